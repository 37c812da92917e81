// The dashboard: one stream, a tab for each subscription, an overview of the gateway, events.

import { access, list } from "/assets/api.js";
import { loadCodes } from "/assets/codes.js";
import { byId, count, setText, sparingly } from "/assets/dom.js";
import { EventLog } from "/assets/events.js";
import { Feed } from "/assets/feed.js";
import { connectKeyDialog } from "/assets/key.js";
import { Metrics } from "/assets/metrics.js";
import { Overview } from "/assets/overview.js";
import { FeedPanel } from "/assets/panel.js";
import { presets, queryOf, specOf } from "/assets/presets.js";
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
    streamId: () => this.stream.id, note: (kind, text) => this.#log.add(kind, text),
  });
  #badge = new StatusBadge(byId("status"), byId("announcement"), byId("reconnect"));
  #form = new SubscribeForm((spec) => this.#tabs.select(this.#addOwn(spec)));
  #isPaused = false;
  #heldFrom = 0;
  #isStarted = false;
  #ownSerial = 0;
  #drawSoon = sparingly(() => this.#draw());

  constructor() {
    this.#tabs.add("gateway", "Gateway", byId("panel-gateway"));
    this.#tabs.add("events", "Events", byId("panel-events"));
    this.#tabs.addEventListener("select", ({ detail }) => this.#selected(detail));
    this.stream.addEventListener("state", ({ detail }) => this.#streamChanged(detail));
    this.stream.addEventListener("event", ({ detail }) =>
      this.#log.take(detail.name, detail.data, detail.feed?.title ?? "Subscription"));
    this.stream.addEventListener("refused", ({ detail }) =>
      this.#log.add("problem", `${detail.feed.title}: ${detail.error.message}`));
    this.#metrics.addEventListener("reading", () => this.#overview.show(this.#metrics.figures));
    this.#metrics.addEventListener("failed", ({ detail }) => this.#overview.fail(detail));
    byId("pause").addEventListener("click", () => this.#pause());
    byId("reconnect").addEventListener("click", () => this.stream.reconnect());
    access.addEventListener("changed", () => this.#keyChanged());
    connectKeyDialog();
  }

  /** Reads the upstreams of the gateway; tries again as long as the gateway does not respond. */
  async start() {
    try {
      const upstreams = await list("/v1/upstreams", "upstreams");
      if (this.#isStarted) return;
      this.#isStarted = true;
      this.#begin(upstreams);
    } catch (error) {
      const retryAt = Date.now() + startRetry;
      this.#streamState = { state: error.status ? "refused" : "gone", reason: error.message, retryAt };
      if (!error.status) setTimeout(() => this.start(), startRetry);
      this.#drawState();
    }
  }

  #begin(upstreams) {
    this.#streamState = { state: "idle", reason: null, retryAt: null };
    this.#form.setUpstreams(upstreams);
    for (const { key, title, spec, ...options } of presets(upstreams)) this.#add(new Feed(key, title, spec, options));
    const query = new URLSearchParams(location.search);
    const asked = query.has("items") ? this.#addOwn(specOf(query)) : location.hash.slice(1);
    const first = this.#tabs.has(asked) ? asked : this.#tabs.keys.find((key) => this.#panels.has(key));
    if (!first) this.#form.open();
    this.#tabs.select(first ?? "gateway");
    this.#metrics.start();
    setInterval(() => this.#drawState(), tick);
  }

  // MARK: - Subscriptions

  #add(feed) {
    const panel = new FeedPanel(feed);
    this.#panels.set(feed.key, panel);
    byId("panels").append(panel.element);
    this.#tabs.add(feed.key, feed.title, panel.element, "gateway");
    feed.addEventListener("values", this.#drawSoon);
    feed.addEventListener("change", () => this.#drawState());
    panel.addEventListener("remove", () => this.#remove(feed));
    return feed.key;
  }

  #addOwn(spec) {
    this.#ownSerial += 1;
    const items = spec.items?.join(", ") ?? "";
    const title = items.length > 24 ? `${items.slice(0, 23)}…` : items;
    return this.#add(new Feed(`own-${this.#ownSerial}`, title || "Own", { mode: "MERGE", ...spec }, { isOwn: true }));
  }

  #remove(feed) {
    this.#panels.get(feed.key).element.remove();
    this.#panels.delete(feed.key);
    this.#tabs.remove(feed.key);
    this.stream.leave(feed);
    this.#log.add("page", `${feed.title}: removed from the stream.`);
  }

  #join(feed) {
    if (!this.stream.feeds.includes(feed)) this.stream.join(feed);
  }

  // MARK: - Changes

  get #panel() { return this.#panels.get(this.#tabs.selected) ?? null; }

  #selected(key) {
    const panel = this.#panels.get(key);
    const query = panel?.feed.options.isOwn ? `?${queryOf(panel.feed.spec)}` : location.pathname;
    history.replaceState(null, "", panel?.feed.options.isOwn ? query : `${query}#${key}`);
    this.#sessions.show(key === "gateway");
    if (panel) this.#join(panel.feed);
    this.#drawSoon();
    this.#drawState();
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
    this.#heldFrom = this.#updates();
    byId("pause").setAttribute("aria-pressed", String(this.#isPaused));
    this.#drawState();
    this.#draw();
  }

  #updates() {
    let total = 0;
    for (const { feed } of this.#panels.values()) total += feed.updates;
    return total;
  }

  // MARK: - Drawing

  #draw() {
    if (!this.#isPaused) this.#panel?.draw();
  }

  #drawState() {
    const isSilent = this.#metrics.isFailing;
    const panel = this.#panel;
    const state = overall(this.#streamState, panel?.feed ?? this.stream.feeds[0], isSilent);
    this.#badge.show(state);
    document.title = `${state.word} · Lightstreamer gateway`;
    const held = count(this.#updates() - this.#heldFrom);
    setText(byId("pause"), this.#isPaused ? `Resume (${held} held)` : "Pause");
    for (const [key, { feed }] of this.#panels) this.#tabs.mark(key, feed.error ? "✗" : "");
    if (this.#isPaused) return;
    panel?.drawState(this.#streamState.state, isSilent);
  }
}

await loadCodes();
const dashboard = new Dashboard();
dashboard.start();
