// The dashboard: one stream, a tab for each subscription, an overview of the gateway, events.

import { access, get, list } from "/assets/api.js";
import { Catalog } from "/assets/catalog.js";
import { loadCodes } from "/assets/codes.js";
import { byId, count, followHead, setText, sparingly } from "/assets/dom.js";
import { EventLog } from "/assets/events.js";
import { Feed } from "/assets/feed.js";
import { connectKeyDialog } from "/assets/key.js";
import { layoutOf, urlOf } from "/assets/layout.js";
import { Metrics } from "/assets/metrics.js";
import { Overview } from "/assets/overview.js";
import { FeedPanel } from "/assets/panel.js";
import { Picture } from "/assets/picture.js";
import { presets, textOf } from "/assets/presets.js";
import { RecoveryTimeline } from "/assets/recovery.js";
import { rights } from "/assets/rights.js";
import { Sessions } from "/assets/sessions.js";
import { StatusBadge, overall } from "/assets/status.js";
import { LiveStream } from "/assets/stream.js";
import { SubscribeForm } from "/assets/subscribe.js";
import { Tabs } from "/assets/tabs.js";

const tick = 500;
const startRetry = 3000;

class Dashboard {
  stream = new LiveStream();
  #streamState = { state: "idle", reason: null, retryAt: null };
  #tabs = new Tabs(byId("tabs"));
  #panels = new Map();
  #metrics = new Metrics();
  #overview = new Overview(byId("overview"));
  #log = new EventLog(byId("panel-events"));
  #sessions = new Sessions(byId("panel-gateway"), {
    streamId: () => this.stream.id, note: (kind, text) => this.#log.add(kind, text), open: (spec) => this.#open(spec),
  });
  #picture = new Picture();
  #catalog = new Catalog(byId("panel-feeds"), this.#picture.element, (spec, title) => this.#open(spec, title));
  #recovery = new RecoveryTimeline();
  #badge = new StatusBadge(byId("status"), byId("announcement"), byId("reconnect"));
  #form = new SubscribeForm((spec) => this.#open(spec));
  #isPaused = false;
  /** The updates of each feed when the page was paused, or when the feed was drawn last. */
  #heldFrom = new Map();
  /** Whether the selected tab was not drawn yet: a paused page holds the values that a tab has when the user selects it. */
  #isNew = true;
  #isStarted = false;
  /** The next attempt to start. */
  #starting = 0;
  #ownSerial = 0;
  #drawSoon = sparingly(() => this.#draw());

  constructor() {
    this.#tabs.add("feeds", "Feeds", byId("panel-feeds"));
    this.#tabs.add("gateway", "Gateway", byId("panel-gateway"));
    this.#tabs.add("events", "Events", byId("panel-events"));
    this.#tabs.addEventListener("select", ({ detail }) => this.#selected(detail.key, detail.isByUser));
    addEventListener("popstate", () => { if (this.#isStarted) this.#route(); });
    // The fragment of the address names the tab.
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      byId("panels").focus();
    });
    byId("overview").after(this.#recovery.element);
    this.stream.addEventListener("state", ({ detail }) => this.#streamChanged(detail));
    this.stream.addEventListener("event", ({ detail }) => {
      this.#recovery.take(detail.name, detail.data);
      this.#log.take(detail.name, detail.data, detail.feed?.title ?? "Subscription");
    });
    this.stream.addEventListener("refused", ({ detail }) =>
      this.#log.add("problem", `${detail.feed.title}: ${detail.error.message}`));
    this.#metrics.addEventListener("reading", () => this.#read());
    rights.addEventListener("changed", () => { byId("subscribe").hidden = !rights.may("subscribe"); });
    this.#metrics.addEventListener("failed", ({ detail }) => this.#overview.fail(detail));
    byId("pause").addEventListener("click", () => this.#pause());
    byId("reconnect").addEventListener("click", () => this.#isStarted ? this.stream.reconnect() : this.start());
    access.addEventListener("changed", () => this.#keyChanged());
    for (const name of ["beforeprint", "afterprint"]) addEventListener(name, () => this.#panel?.table.print(name === "beforeprint"));
    connectKeyDialog();
  }

  /** Reads the upstreams of the gateway; tries again as long as the gateway does not respond, or is at a limit. */
  async start() {
    clearTimeout(this.#starting);
    try {
      const [upstreams] = await Promise.all([list("/v1/upstreams", "upstreams"), rights.read()]);
      if (this.#isStarted) return;
      this.#isStarted = true;
      this.#begin(upstreams);
    } catch (error) {
      const retryAt = Date.now() + startRetry;
      this.#streamState = { state: error.status ? "refused" : "gone", reason: error.message, retryAt };
      if (!(error.status < 500) || error.status === 429) this.#starting = setTimeout(() => this.start(), startRetry);
      this.#drawState();
    }
  }

  #begin(upstreams) {
    this.#streamState = { state: "idle", reason: null, retryAt: null };
    this.#form.setUpstreams(upstreams);
    for (const { key, title, spec, ...options } of presets(upstreams)) this.#add(new Feed(key, title, spec, options));
    this.#route();
    this.#metrics.start();
    setInterval(() => this.#drawState(), tick);
  }

  // MARK: - Subscriptions

  #add(feed) {
    const panel = new FeedPanel(feed);
    this.#panels.set(feed.key, panel);
    byId("panels").append(panel.element);
    this.#tabs.add(feed.key, feed.title, panel.element, "feeds");
    feed.addEventListener("values", this.#drawSoon);
    feed.addEventListener("change", () => this.#drawState());
    panel.addEventListener("remove", () => this.#remove(feed));
    panel.addEventListener("chart", () => history.replaceState(null, "", this.#url()));
    return feed.key;
  }

  /** Opens a subscription in a tab of its own, unless it has one. */
  #open(spec, title) { this.#tabs.select(this.#keyOf(spec, title), true); }

  get #own() { return [...this.#panels.values()].filter(({ feed }) => feed.options.isOwn); }

  /** The tab of an own subscription, which is added if there is none. */
  #keyOf(spec, wanted) {
    const text = textOf(spec), present = this.#own.find(({ feed }) => feed.options.text === text);
    if (present) return present.feed.key;
    this.#ownSerial += 1;
    const items = wanted ?? spec.items?.join(", ") ?? spec.itemGroup ?? "";
    const title = items.length > 24 ? `${items.slice(0, 23)}…` : items;
    return this.#add(new Feed(`own-${this.#ownSerial}`, title || "Own", { mode: "MERGE", ...spec }, { isOwn: true, text }));
  }

  #remove(feed) {
    this.#panels.get(feed.key).element.remove();
    this.#panels.delete(feed.key);
    this.#heldFrom.delete(feed);
    this.#tabs.remove(feed.key);
    this.stream.leave(feed);
    this.#log.add("page", `${feed.title}: removed from the stream.`);
  }

  #join(feed) {
    if (!this.stream.feeds.includes(feed)) this.stream.join(feed);
  }

  // MARK: - Changes

  get #panel() { return this.#panels.get(this.#tabs.selected) ?? null; }

  /** The URL that shows what this page shows, and a row of the tab. */
  #url(row) {
    const own = this.#own.map(({ feed }) => feed);
    const place = own.indexOf(this.#panel?.feed);
    const key = place >= 0 ? `own-${place + 1}` : this.#tabs.selected;
    return urlOf({ specs: own.map(({ spec }) => spec), key, row, chart: this.#panel?.charted ?? [] });
  }

  /** Shows what the URL names: after a load, a click on a link, a change of its fragment, Back and Forward. */
  #route() {
    const { specs, key, row, chart } = layoutOf(location);
    const own = specs.map((spec) => this.#keyOf(spec));
    const place = key?.match(/^own-(\d+)$/)?.[1];
    const asked = place ? own[place - 1] : key;
    const first = this.#tabs.has(asked) ? asked : this.#tabs.keys.find((other) => this.#panels.has(other)) ?? "feeds";
    if (chart.length && this.#panels.has(first)) this.#panels.get(first).feed.options.charts = chart;
    this.#tabs.select(first);
    if (!row) return;
    this.#sessions.reveal(row);
    // A link to a row has no list of the subscriptions that are open.
    history.replaceState(null, "", this.#url(row));
  }

  #selected(key, isByUser) {
    const panel = this.#panels.get(key);
    this.#isNew = true;
    if (isByUser && this.#url() !== location.pathname + location.search + location.hash) history.pushState(null, "", this.#url());
    this.#sessions.show(key === "gateway");
    this.#catalog.show(key === "feeds");
    if (panel) this.#join(panel.feed);
    this.#drawSoon();
    this.#drawState();
  }

  async #read() {
    this.#overview.show(this.#metrics.figures);
    if (this.#tabs.selected === "feeds") this.#picture.show(this.#metrics.figures, await get("/health").catch(() => null));
  }

  #streamChanged(detail) {
    const before = this.#streamState.state;
    this.#streamState = detail;
    const words = {
      open: "The stream is open.", gone: "The gateway does not answer.",
      reconnecting: "The stream was interrupted; this page connects again.",
    };
    if (detail.state !== before && words[detail.state]) this.#log.add("page", words[detail.state]);
    this.#drawState();
  }

  #keyChanged() {
    this.#metrics.read();
    if (this.#isStarted) this.stream.restart();
    else this.start();
  }

  #pause() {
    this.#isPaused = !this.#isPaused;
    this.#heldFrom = new Map([...this.#panels.values()].map(({ feed }) => [feed, feed.updates]));
    byId("pause").setAttribute("aria-pressed", String(this.#isPaused));
    this.#drawState();
    this.#draw();
  }

  get #held() {
    let total = 0;
    for (const { feed } of this.#panels.values()) total += feed.updates - (this.#heldFrom.get(feed) ?? 0);
    return total;
  }

  // MARK: - Drawing

  #draw() {
    const panel = this.#panel;
    if (!panel || (this.#isPaused && !this.#isNew)) return;
    panel.draw();
    this.#heldFrom.set(panel.feed, panel.feed.updates);
    this.#isNew = !panel.feed.rows.size;
  }

  #drawState() {
    // A browser sends no request while its six connections have streams, of pages that cannot share one: values still arrive.
    const { silentSince } = this.#metrics;
    const isSilent = this.#streamState.isSilent
      || (silentSince !== null && ![...this.#panels.values()].some(({ feed }) => feed.lastValueAt > silentSince));
    const panel = this.#panel;
    const state = overall(this.#streamState, panel?.feed ?? this.stream.feeds[0], isSilent);
    this.#badge.show(state);
    document.title = `${state.word} · Lightstreamer gateway`;
    setText(byId("pause"), this.#isPaused ? `Resume (${count(this.#held)} held)` : "Pause");
    for (const [key, { feed }] of this.#panels) this.#tabs.mark(key, feed.error ? "✗" : "");
    panel?.drawState(this.#streamState.state, isSilent, this.#isPaused);
  }
}

followHead();
await loadCodes();
const dashboard = new Dashboard();
dashboard.start();
