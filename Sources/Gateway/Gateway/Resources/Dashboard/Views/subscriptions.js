// The table of subscriptions: what they read, who reads them, how much arrives.

import { remove } from "/assets/api.js";
import { ageText, count, h, setText } from "/assets/dom.js";
import { explain } from "/assets/codes.js";
import { endButton, keep, rowId, setOptional, showLinks, tableCard } from "/assets/lists.js";
import { rights } from "/assets/rights.js";

const columns = [["items"], ["mode"], ["id"], ["client"], ["readers"], ["updates/s", "number"], ["last update", "number"], ["state"], ["actions", "actions"]];
const mostNames = 40;

/** The items of a subscription, in few words. */
export function named({ items, itemGroup }) {
  const text = items?.join(", ") ?? itemGroup ?? "";
  return text.length > mostNames ? `${items ? `${items.length} items: ` : ""}${text.slice(0, mostNames)}…` : text;
}

/** The subscription as this page would join it; null for one by address, which no other upstream has. */
export function specOfResource(resource) {
  if (resource.upstream === null) return null;
  const members = [
    "upstream", "mode", "items", "itemGroup", "fields", "fieldSchema", "dataAdapter", "selector", "requestedSnapshot",
    "requestedMaxFrequency", "requestedBufferSize", "commandSecondLevelFields", "commandSecondLevelFieldSchema",
    "commandSecondLevelDataAdapter",
  ];
  return Object.fromEntries(members.filter((name) => resource[name] !== null).map((name) => [name, resource[name]]));
}

export class SubscriptionsTable {
  #body = h("tbody");
  #page;
  element = tableCard("Subscriptions", "Subscriptions: what the streams of this gateway read", columns, this.#body);

  /** `page.open(spec)` shows a subscription in a tab of its own. */
  constructor(page) { this.#page = page; }

  show(subscriptions, streams) {
    const readers = new Map();
    for (const { id, sources } of streams) {
      for (const { subscription } of sources) readers.set(subscription, [...readers.get(subscription) ?? [], id]);
    }
    const now = Date.now();
    keep(this.#body, subscriptions, ({ id }) => id, (entry) => this.#make(entry, now), (view, entry) => {
      const { updates } = entry.counters;
      if (updates !== view.updates) {
        view.rate = (updates - view.updates) / Math.max(0.001, (now - view.readAt) / 1000);
        [view.updates, view.changedAt, view.isKnown] = [updates, now, true];
      } else if (now > view.readAt) view.rate = 0;
      view.readAt = now;
      view.entry = entry;
      setText(view.open, named(entry));
      view.open.disabled = !specOfResource(entry);
      showLinks(view.client, entry.client ? [entry.client] : []);
      showLinks(view.readers, readers.get(entry.id) ?? []);
      setOptional(view.cells.rate, view.rate === null ? null : view.rate < 10 ? view.rate.toFixed(1) : count(view.rate));
      setText(view.cells.age, ageText((now - view.changedAt) / 1000, view.isKnown));
      this.#showState(view.state, entry);
      view.end.hidden = !(rights.may("subscribe") && (!entry.shared || entry.ttl !== null));
    });
    this.#body.dataset.empty = subscriptions.length ? "" : "There is no subscription.";
  }

  #showState(element, { subscribed, active, lastError }) {
    element.dataset.kind = subscribed ? "good" : lastError ? "bad" : "warning";
    setText(element, subscribed ? "● subscribed" : lastError ? `✗ ${lastError.code}: ${explain("subscription", lastError.code)?.meaning ?? lastError.message}`
      : active ? "○ waits for its session" : "○ not subscribed");
  }

  #make(entry, now) {
    const cells = { rate: h("td", { class: "number" }), age: h("td", { class: "number" }) };
    const view = { cells, updates: entry.counters.updates, readAt: now, changedAt: now, rate: null, isKnown: false };
    [view.client, view.readers] = [h("td"), h("td")];
    view.state = h("span", { class: "state" });
    view.end = endButton(`End subscription ${entry.id}`, this.#page, () => remove(`/v1/subscriptions/${entry.id}`));
    view.open = h("button", { type: "button", class: "link", title: "Show its values in a tab",
      onclick: () => this.#page.open(specOfResource(view.entry)) });
    view.elements = [h("tr", { id: rowId(entry.id), tabIndex: -1 }, h("th", { scope: "row", class: "wrap" }, view.open), h("td", {}, entry.mode),
      h("td", {}, entry.id), view.client, view.readers, cells.rate, cells.age, h("td", { class: "wrap" }, view.state), h("td", { class: "actions" }, view.end))];
    return view;
  }
}
