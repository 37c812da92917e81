// The events of the stream as sentences, newest first, with their JSON on demand.

import { clock, h, plural } from "/assets/dom.js";
import { explain } from "/assets/codes.js";

const limit = 400;

const kinds = {
  connection: { label: "Connection", symbol: "⇄" },
  subscription: { label: "Subscriptions", symbol: "◆" },
  data: { label: "Data", symbol: "·" },
  message: { label: "Messages", symbol: "✉" },
  problem: { label: "Problems", symbol: "✗" },
  page: { label: "This page", symbol: "▢" },
};

const statuses = {
  "CONNECTING": "The gateway connects to the upstream.",
  "CONNECTED:STREAM-SENSING": "The upstream answered; the transport is being chosen.",
  "CONNECTED:WS-STREAMING": "The upstream session streams over WebSocket.",
  "CONNECTED:HTTP-STREAMING": "The upstream session streams over HTTP.",
  "CONNECTED:WS-POLLING": "The upstream session polls over WebSocket.",
  "CONNECTED:HTTP-POLLING": "The upstream session polls over HTTP.",
  "STALLED": "The upstream session is silent.",
  "DISCONNECTED:WILL-RETRY": "The upstream connection was lost or not established; the gateway connects again.",
  "DISCONNECTED:TRYING-RECOVERY": "The upstream connection was lost; the gateway recovers the session.",
  "DISCONNECTED": "The upstream session ended.",
};

const place = (data) => (data.item ? `${data.item}` : `item ${data.itemPos}`);
const fields = (data) => Object.entries(data.fields).map(([name, value]) => `${name} ${value ?? "null"}`).join(", ");
const resumes = {
  fresh: "A new stream began.", resumed: "The stream continues without a gap.",
  gap: "The stream was resumed with a gap; a fresh snapshot follows.",
};
const meaning = (kind, { code, message }) => {
  const known = explain(kind, code)?.meaning ?? "";
  return `code ${code}${message ? `, “${message}”` : ""}. ${known}`.trim();
};

/** Each event: its kind, and its sentence; `name` is the title of the subscription. */
const sentences = {
  "stream": (data) => ["page", `${resumes[data.resume]} It carries ${plural(data.sources, "source")}.`
    + `${data.degraded ? " The engine of the cluster is away: this replica serves alone." : ""}`],
  "status": (data) => ["connection", statuses[data.status] ?? `Status ${data.status}.`],
  "server-error": (data) => ["problem", `The upstream refused or closed the session: ${meaning("session", data)}`],
  "property": (data) => ["connection",
    `Property ${data.property} is ${"value" in data ? JSON.stringify(data.value) : "changed"}.`],
  "subscribed": (data, name) => ["subscription",
    `${name}: subscribed, ${plural(data.itemCount, "item")} with ${plural(data.fieldCount, "field")}.`],
  "unsubscribed": (data, name) => ["subscription",
    `${name}: unsubscribed${data.active ? "; the next session subscribes again" : ""}.`],
  "update": (data, name) => ["data",
    `${name}: ${place(data)}${data.key ? `, key ${data.key} ${data.command}` : ""}: ${fields(data) || "no change"}.`
    + `${data.snapshot ? " (snapshot)" : ""}${data.conflated ? ` (stands for ${data.conflated} updates)` : ""}`],
  "end-of-snapshot": (data, name) => ["data", `${name}: the snapshot of ${place(data)} is complete.`],
  "clear-snapshot": (data, name) => ["subscription", `${name}: ${place(data)} was cleared.`],
  "lost-updates": (data, name) => ["problem",
    `${name}: ${plural(data.count, "update")} of ${place(data)} lost by the ${data.by}.`],
  "subscription-error": (data, name) => ["problem", `${name}: refused with ${meaning("subscription", data)}`],
  "second-level-error": (data, name) => ["problem",
    `${name}: key ${data.key} refused with ${meaning("subscription", data)}`],
  "second-level-lost-updates": (data, name) => ["problem",
    `${name}: ${plural(data.count, "update")} of key ${data.key} lost.`],
  "real-max-frequency": (data, name) => ["subscription",
    `${name}: the server sends ${data.value === "unlimited" ? "every update" : data.value === null
      ? "at an unknown frequency" : `at most ${data.value} updates a second and item`}.`],
  "message-outcome": (data) => ["message", `A message was ${data.outcome}${data.error ? `: ${data.error}` : "."}`],
  "closing": (data) => ["page", `The gateway closes the stream: ${data.reason}.`],
};

export class EventLog {
  #list = h("ol", { class: "events" });
  #shown = new Set(Object.keys(kinds).filter((kind) => kind !== "data"));
  #entries = [];

  constructor(element) {
    const filters = Object.entries(kinds).map(([kind, { label }]) => {
      const box = h("input", { type: "checkbox", name: kind, onchange: () => this.#filter(kind, box.checked) });
      box.checked = this.#shown.has(kind);
      return h("label", { class: "chip" }, box, label);
    });
    const clear = h("button", { type: "button", class: "small", onclick: () => this.#clear() }, "Clear");
    element.append(
      h("div", { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "Events"),
          h("div", { class: "row", role: "group", "aria-label": "Kinds of events" }, filters, clear)),
        h("div", { role: "log", "aria-live": "off", "aria-label": "Events, newest first" }, this.#list)));
  }

  /** Takes an event of the stream. */
  take(name, data, title) {
    const [kind, sentence] = sentences[name]?.(data, title) ?? ["page", `Event ${name}.`];
    // Updates are only kept while they are shown: there may be thousands.
    if (kind === "data" && !this.#shown.has("data")) return;
    this.add(kind, sentence, { event: name, data });
  }

  /** Adds a sentence about an action or an observation of this page. */
  add(kind, sentence, json = null) {
    const entry = { kind, line: this.#line(kind, sentence, json) };
    entry.line.hidden = !this.#shown.has(kind);
    this.#entries.push(entry);
    this.#list.prepend(entry.line);
    while (this.#entries.length > limit) this.#entries.shift().line.remove();
  }

  #line(kind, sentence, json) {
    const { label, symbol } = kinds[kind];
    const head = [
      h("time", { datetime: new Date().toISOString() }, clock(Date.now())),
      h("span", { class: "symbol", "aria-hidden": "true" }, symbol),
      h("span", { class: "visually-hidden" }, `${label}: `),
      h("span", { class: "sentence" }, sentence),
    ];
    if (!json) return h("li", { data: { kind } }, h("div", { class: "event" }, head));
    const body = h("pre", { tabIndex: 0 });
    const details = h("details", { class: "event" }, h("summary", {}, head), body);
    details.addEventListener("toggle", () => { body.textContent = JSON.stringify(json, null, 2); }, { once: true });
    return h("li", { data: { kind } }, details);
  }

  #filter(kind, isShown) {
    if (isShown) this.#shown.add(kind);
    else this.#shown.delete(kind);
    for (const entry of this.#entries) entry.line.hidden = !this.#shown.has(entry.kind);
  }

  #clear() {
    this.#entries = [];
    this.#list.replaceChildren();
  }
}
