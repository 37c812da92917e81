// The connection options of a client, changed in place by JSON merge patch.

import { get, patch } from "/assets/api.js";
import { h, setText } from "/assets/dom.js";

const transports = ["", "WS", "WS-STREAMING", "WS-POLLING", "HTTP", "HTTP-STREAMING", "HTTP-POLLING"];
const units = {
  currentConnectTimeout: "s", contentLength: "bytes", firstRetryMaxDelay: "s", idleTimeout: "s", keepaliveInterval: "s",
  pollingInterval: "s", requestedMaxBandwidth: "kbit/s", reconnectTimeout: "s", retryDelay: "s",
  reverseHeartbeatInterval: "s", sessionRecoveryTimeout: "s", stalledTimeout: "s", connectTimeout: "s",
};
// Not a single value: can be changed through the API only.
const hidden = ["httpExtraHeaders"];

export class OptionsForm {
  #path;
  #inputs = new Map();
  #outcome = h("p", { class: "note outcome", role: "status" });
  #grid = h("div", { class: "options" });
  element = h("form", { class: "options-form", onsubmit: (event) => event.preventDefault() }, this.#grid, this.#outcome);

  constructor(client) { this.#path = `/v1/clients/${client}/options`; }

  async read() {
    try {
      this.#show(await get(this.#path));
      this.#say("A change is sent at once; the API docs name when it takes effect. An empty field restores the default.");
    } catch (error) {
      this.#say(`✗ ${error.message}`, true);
    }
  }

  #show(options) {
    const { requested } = options;
    for (const [name, value] of Object.entries(requested)) {
      if (hidden.includes(name)) continue;
      if (!this.#inputs.has(name)) this.#add(name, value);
      const { input, actual } = this.#inputs.get(name);
      if (typeof value === "boolean") input.checked = value;
      else input.value = value ?? "";
      const inForce = name === "requestedMaxBandwidth" ? options.realMaxBandwidth : options[name];
      setText(actual, String(inForce) === String(value) || inForce === null ? "" : `in force: ${inForce}`);
    }
  }

  #add(name, value) {
    const input = this.#input(name, value);
    const actual = h("span", { class: "note" });
    input.addEventListener("change", () => this.#change(name, input));
    this.#inputs.set(name, { input, actual });
    this.#grid.append(h("label", {}, h("span", { class: "option-name" }, name), 
      h("span", { class: "row" }, input, units[name] ? h("span", { class: "unit" }, units[name]) : null, actual)));
  }

  #input(name, value) {
    if (typeof value === "boolean") return h("input", { type: "checkbox", name });
    if (name === "forcedTransport") {
      return h("select", { name }, transports.map((word) => new Option(word || "any", word)));
    }
    return h("input", { name, inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
  }

  async #change(name, input) {
    const text = input.value.trim();
    let value = text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text);
    if (input.type === "checkbox") value = input.checked;
    try {
      this.#show(await patch(this.#path, { [name]: value }));
      this.#say(`✓ ${name} was changed.`);
      input.removeAttribute("aria-invalid");
    } catch (error) {
      input.setAttribute("aria-invalid", "true");
      this.#say(`✗ ${error.message}`, true);
    }
  }

  #say(text, isProblem = false) {
    setText(this.#outcome, text);
    this.#outcome.classList.toggle("bad", isProblem);
  }
}
