// The folded form for the user's own subscriptions.

import { list } from "/assets/api.js";
import { byId, h, setText } from "/assets/dom.js";
import { specOf } from "/assets/presets.js";

export class SubscribeForm {
  #details = byId("subscribe");
  #form = byId("subscribe-form");
  #problem = byId("subscribe-problem");

  /** `join(spec)` is called with the subscription that the form describes. */
  constructor(join) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(join);
    });
    this.#form.elements.mode.addEventListener("change", () => this.#showMode());
    this.#details.addEventListener("toggle", () => { if (this.#details.open) this.#readNames(); });
    this.#showMode();
  }

  setUpstreams(upstreams) {
    this.#form.elements.upstream.replaceChildren(...upstreams.map(({ name }) => new Option(name)));
  }

  open() { this.#details.open = true; }

  #showMode() {
    const mode = this.#form.elements.mode.value;
    for (const element of this.#form.querySelectorAll("[data-mode]")) element.hidden = element.dataset.mode !== mode;
    this.#form.elements.requestedSnapshot.disabled = mode === "RAW";
  }

  /** Names of items, fields and adapters that present subscriptions use. */
  async #readNames() {
    const subscriptions = await list("/v1/subscriptions", "subscriptions", 100).catch(() => []);
    const fill = (id, member) => {
      const names = new Set(subscriptions.flatMap((subscription) => subscription[member] ?? []));
      byId(id).replaceChildren(...[...names].sort().map((name) => h("option", { value: name })));
    };
    fill("known-items", "items");
    fill("known-fields", "fields");
    fill("known-adapters", "dataAdapter");
  }

  #submit(join) {
    const spec = specOf(new FormData(this.#form));
    const missing = ["upstream", "items", "fields"].find((name) => !spec[name]?.length);
    this.#problem.hidden = !missing;
    if (missing) {
      setText(this.#problem, `✗ ${missing} must not be empty.`);
      this.#form.elements[missing].focus();
      return;
    }
    this.#details.open = false;
    join(spec);
  }
}
