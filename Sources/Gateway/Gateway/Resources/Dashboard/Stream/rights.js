// What the caller may do. Nothing else is offered.

import { access, get } from "/assets/api.js";

/** Dispatches `changed` after each reading. */
class Rights extends EventTarget {
  /** The response of `GET /v1/session`; null while it is not known. */
  session = null;

  constructor() {
    super();
    access.addEventListener("changed", () => this.read());
  }

  async read() {
    this.session = await get("/v1/session").catch(() => null);
    this.dispatchEvent(new Event("changed"));
  }

  /** Whether an operation is permitted: read, subscribe, manage or send. */
  may(operation) { return this.session?.operations.includes(operation) ?? false; }

  /** Whether the resources of all callers may be changed. */
  get controlsAll() { return this.session?.controlsAll ?? false; }
}

export const rights = new Rights();
