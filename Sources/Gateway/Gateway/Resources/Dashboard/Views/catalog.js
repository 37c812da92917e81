// The tab Feeds: what this gateway offers, and what is in use, to open with a click.

import { list } from "/assets/api.js";
import { count, h, setText, whileShown } from "/assets/dom.js";
import { cutText, keep } from "/assets/lists.js";
import { rights } from "/assets/rights.js";
import { named, specOfResource } from "/assets/subscriptions.js";

const interval = 5000;
const mostItems = 100;

/** The items of a feed: its names, and those of patterns such as `item{1…30}`, of which the first `most` are enough. */
export function itemsOf({ items }, most = mostItems) {
  const names = [];
  for (const { pattern } of items) {
    const range = pattern.match(/^(.*)\{(\d+)…(\d+)\}(.*)$/);
    if (!range) {
      names.push(pattern);
      continue;
    }
    for (let number = Number(range[2]); number <= Number(range[3]) && names.length < most; number += 1) names.push(range[1] + number + range[4]);
  }
  return names;
}

/** A feed as a subscription: its own members with the rights to them, else by its name, which public feeds permit. */
function specOfFeed(feed) {
  const items = itemsOf(feed);
  const fields = feed.fields.map(({ name }) => name);
  if (!rights.may("subscribe")) return { feed: feed.name, mode: feed.mode, items, fields };
  const spec = { upstream: feed.upstream, mode: feed.mode, items, fields };
  for (const name of ["dataAdapter", "selector", "requestedSnapshot", "requestedMaxFrequency"]) if (feed[name]) spec[name] = feed[name];
  return spec;
}

export class Catalog {
  #feeds = h("div", { class: "catalog" });
  #used = h("ul", { class: "used" });
  #note = h("p", { class: "note" });
  #cut = h("p", { class: "note" });
  #open;
  /** Reads the lists at intervals while the tab is shown. */
  show = whileShown(() => this.read(), interval);

  /** `open(spec, title)` shows a subscription in a tab of its own. */
  constructor(element, picture, open) {
    this.#open = open;
    element.append(picture,
      h("div", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Feeds")), this.#feeds, this.#note),
      h("div", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "In use")), this.#used, this.#cut));
  }

  /** What cannot be read stays as it was, with the reason. */
  read() {
    const told = (note) => ({ message }) => setText(note, message);
    return Promise.all([this.#readFeeds().catch(told(this.#note)), this.#readUsed().catch(told(this.#cut))]);
  }

  async #readFeeds() {
    const feeds = await list("/v1/feeds", "feeds");
    // A feed that a reload has changed is shown anew.
    keep(this.#feeds, feeds, (feed) => JSON.stringify(feed), (feed) => this.#make(feed), (view, feed) => {
      view.button.disabled = !rights.may("subscribe") && !feed.public;
    });
    setText(this.#note, feeds.length ? cutText({ feeds }) : "This gateway describes no feeds (`feeds` in the configuration).");
  }

  async #readUsed() {
    const subscriptions = await list("/v1/subscriptions", "subscriptions", 200);
    const entries = rights.may("subscribe") ? subscriptions : [];
    keep(this.#used, entries, ({ id }) => id, () => this.#makeUsed(), (view, entry) => {
      view.entry = entry;
      setText(view.button, named(entry));
      view.button.disabled = !specOfResource(entry);
      setText(view.note, ` ${entry.mode}, upstream ${entry.upstream ?? "by address"}${entry.dataAdapter ? `, adapter ${entry.dataAdapter}` : ""}`);
    });
    setText(this.#cut, entries.length ? cutText({ subscriptions }) : "");
    this.#used.dataset.empty = entries.length ? "" : "Nothing is in use.";
  }

  #make(feed) {
    // A feed of any items has no table: its URL needs the name of an item.
    const takesAny = feed.items === null, shown = takesAny ? 0 : itemsOf(feed).length;
    const isCut = !takesAny && shown < itemsOf(feed, Infinity).length;
    const button = h("button", { type: "button", class: "primary small", onclick: () => this.#open(specOfFeed(feed), feed.title ?? feed.name) },
      isCut ? `Open the first ${count(shown)} items` : "Open", h("span", { class: "visually-hidden" }, ` ${feed.title ?? feed.name}`));
    const items = takesAny ? "any" : feed.items.map(({ pattern }) => pattern).join(", ");
    return { button, elements: [h("article", { class: "feed" },
      h("div", { class: "row" }, h("h3", {}, feed.title ?? feed.name), h("code", {}, takesAny ? `${feed.url}/{item}` : feed.url)),
      feed.description ? h("p", {}, feed.description) : null,
      h("p", { class: "note" }, `${feed.mode}, upstream ${feed.upstream}, items: ${items}`),
      h("p", { class: "note" }, `Fields: ${feed.fields.map(({ name, unit }) => (unit ? `${name} (${unit})` : name)).join(", ")}`),
      takesAny ? null : h("div", { class: "row" }, button))] };
  }

  #makeUsed() {
    const view = { note: h("span", { class: "note" }) };
    view.button = h("button", { type: "button", class: "link", onclick: () => this.#open(specOfResource(view.entry)) });
    view.elements = [h("li", {}, view.button, view.note)];
    return view;
  }
}
