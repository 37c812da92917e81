// Types of gateway-elements.js, which defines `<ls-value>` and `<ls-table>`.

import type { Gateway } from "./gateway.js";

/** What both elements have. */
export class LsElement extends HTMLElement {
  /** Connects the elements of a gateway's address. An application with a token sets a function of its own. */
  static connection: (url: string) => Gateway;
}

declare global {
  interface HTMLElementTagNameMap {
    "ls-value": LsElement;
    "ls-table": LsElement;
  }
}
