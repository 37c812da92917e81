// The single stream of this page. It is prepared by POST /v1/streams, read by an EventSource, changed by PATCH while it
// is open, closed when the browser leaves the page and resumed when the page returns from the back/forward cache.

import { ProblemError, UnreachableError, get, patch, post, remove, streamURL } from "/assets/api.js";

const eventNames = [
  "stream", "status", "server-error", "property", "subscribed", "unsubscribed", "update", "end-of-snapshot",
  "clear-snapshot", "lost-updates", "subscription-error", "second-level-error", "second-level-lost-updates",
  "real-max-frequency", "message-outcome", "closing",
];
// Events of a subscription may arrive before the response with its id.
const mostEarlyEvents = 10_000;
const mostReads = 10;
const firstDelay = 500;
const longestDelay = 10_000;
// Reasons for which the gateway closes a stream on purpose: the user decides whether to open it again.
const finalReasons = ["deleted", "revoked"];

/**
 * Dispatches `state` (detail `{state, reason, retryAt}`; state: idle, opening, open, reconnecting, gone, refused, ended) and
 * `event` (detail `{name, data, feed}`; feed is null for events of clients).
 */
export class LiveStream extends EventTarget {
  state = "idle";
  id = null;
  #feeds = new Map();
  /** The states of the sources in the last `stream` event. */
  #sources = [];
  #early = [];
  #source = null;
  #lastEventId = null;
  #attempts = 0;
  #timer = 0;
  #queue = Promise.resolve();
  #closingReason = null;

  constructor() {
    super();
    addEventListener("pagehide", (event) => this.#hide(event.persisted));
    addEventListener("pageshow", (event) => { if (event.persisted) this.reconnect(); });
    addEventListener("online", () => { if (this.#timer) this.reconnect(); });
  }

  get feeds() { return [...this.#feeds.values()]; }

  get #isReading() { return this.id !== null && (this.state === "open" || this.state === "opening"); }

  /** Adds a feed to the stream; throws `ProblemError` if the gateway refuses it. */
  join(feed) {
    this.#feeds.set(feed.key, feed);
    return this.#inTurn(() => (this.#isReading ? this.#add(feed) : this.#open()));
  }

  /** Takes a feed out of the stream. */
  leave(feed) {
    this.#feeds.delete(feed.key);
    return this.#inTurn(async () => {
      if (!this.id || !feed.subscription) return;
      if (this.#feeds.size === 0) return this.#end();
      await patch(`/v1/streams/${this.id}`, { remove: [{ subscription: feed.subscription }] });
      feed.subscription = null;
    });
  }

  /** Opens the stream again at once, with all its feeds. */
  reconnect() {
    this.#attempts = 0;
    return this.#inTurn(() => this.#open());
  }

  /** Discards the stream and opens a new one. Used after a change of credentials. */
  restart() {
    this.#drop();
    this.id = null;
    this.#lastEventId = null;
    return this.reconnect();
  }

  #inTurn(work) {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  #become(state, reason = null, retryAt = null) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: { state, reason, retryAt } }));
  }

  // MARK: - Opening

  async #open() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#drop();
    if (this.#feeds.size === 0) return this.#become("idle");
    if (this.state !== "reconnecting" && this.state !== "gone") this.#become("opening");
    try {
      await this.#check();
      await this.#complete();
      if (this.id) this.#listen(await streamURL(`/v1/streams/${this.id}/events`, this.#lastEventId));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Discards the stream if the gateway no longer has it; otherwise the stream can be resumed. */
  async #check() {
    try {
      if (this.id) {
        await get(`/v1/streams/${this.id}`);
        return;
      }
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 404) throw error;
    }
    this.id = null;
    this.#lastEventId = null;
    this.#sources = [];
    for (const feed of this.#feeds.values()) feed.subscription = null;
  }

  /** Adds the feeds that the stream does not carry, one by one, so that a refused feed does not affect the others. */
  async #complete() {
    for (const feed of this.#feeds.values()) {
      if (feed.subscription) continue;
      try {
        await (this.id ? this.#add(feed) : this.#prepare(feed));
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status === 401) throw error;
        feed.refuse(error);
      }
    }
    if (!this.id) this.#become("refused", "The gateway refused every subscription of this page.");
  }

  async #prepare(feed) {
    const stream = await post("/v1/streams", { sources: [feed.spec] });
    this.id = stream.id;
    this.#joined(feed, stream.sources[0].subscription);
  }

  async #add(feed) {
    const others = new Set(this.feeds.map((other) => other.subscription));
    const stream = await patch(`/v1/streams/${this.id}`, { add: [feed.spec] });
    const added = stream.sources.find((source) => source.subscription && !others.has(source.subscription));
    if (added) this.#joined(feed, added.subscription);
  }

  /** The `stream` event with the state of the subscription arrives before or after the response with its id. */
  #joined(feed, subscription) {
    feed.subscription = subscription;
    const state = this.#sources.find((source) => source.subscription === subscription);
    if (state) this.#takeState(feed, state, "fresh");
    this.#replay(feed);
  }

  #takeState(feed, state, resume) {
    feed.sourceState(state, resume);
    if (feed.isWithoutSession) this.#readReason(feed);
  }

  /** Reads why a subscription has no session; reads again if an event changed its state in the meantime. */
  async #readReason(feed) {
    for (let attempt = 0; attempt < mostReads; attempt += 1) {
      const { stateEvents } = feed;
      const view = await get(`/v1/subscriptions/${feed.subscription}`).catch(() => null);
      const client = view?.client ? await get(`/v1/clients/${view.client}`).catch(() => null) : null;
      if (!view) return;
      if (feed.stateEvents !== stateEvents) continue;
      feed.joined(view);
      if (client) feed.clientStatus(client.status, client.lastServerError);
      return;
    }
  }

  #replay(feed) {
    const early = this.#early;
    this.#early = [];
    for (const [name, data] of early) if (data.subscription === feed.subscription) this.#deliver(name, data);
  }

  #listen(url) {
    this.#closingReason = null;
    const source = new EventSource(url);
    this.#source = source;
    source.onopen = () => { this.#attempts = 0; this.#become("open"); };
    source.onerror = () => { if (source === this.#source) this.#lost(); };
    for (const name of eventNames) {
      source.addEventListener(name, (event) => {
        if (event.lastEventId) this.#lastEventId = event.lastEventId;
        this.#deliver(name, JSON.parse(event.data));
      });
    }
  }

  #deliver(name, data) {
    if (name === "closing") this.#closingReason = data.reason;
    if (name === "stream") {
      this.#sources = data.sources;
      for (const state of data.sources) {
        const feed = this.#feed(state.subscription);
        if (feed) this.#takeState(feed, state, data.resume);
      }
    }
    const feed = this.#feed(data.subscription);
    if (data.subscription && !feed) {
      if (this.#early.length < mostEarlyEvents) this.#early.push([name, data]);
      return;
    }
    feed?.apply(name, data);
    // If its session is still connected, the subscription was removed: the reason is in the resource.
    if (name === "unsubscribed" && feed?.isConnected) this.#readReason(feed);
    if (!feed && data.client) {
      for (const other of this.#feeds.values()) other.clientEvent(name, data);
    }
    this.dispatchEvent(new CustomEvent("event", { detail: { name, data, feed: feed ?? null } }));
  }

  #feed(subscription) {
    if (!subscription) return null;
    return this.feeds.find((feed) => feed.subscription === subscription) ?? null;
  }

  // MARK: - Ending

  #drop() {
    this.#source?.close();
    this.#source = null;
  }

  async #end() {
    const id = this.id;
    this.#drop();
    this.id = null;
    this.#lastEventId = null;
    this.#become("idle");
    await remove(`/v1/streams/${id}`);
  }

  #hide(mayReturn) {
    clearTimeout(this.#timer);
    this.#drop();
    // A page in the back/forward cache resumes its stream; any other page deletes it.
    if (!mayReturn && this.id) remove(`/v1/streams/${this.id}`, { keepalive: true }).catch(() => {});
  }

  #lost() {
    this.#drop();
    if (finalReasons.includes(this.#closingReason)) {
      this.id = null;
      this.#lastEventId = null;
      return this.#become("ended", this.#closingReason);
    }
    this.#retry("reconnecting", this.#closingReason);
  }

  #failed(error) {
    if (error instanceof UnreachableError) return this.#retry("gone", error.message);
    if (error.status === 401 || error.status === 403) return this.#become("refused", error.message);
    this.#retry("reconnecting", error.message);
  }

  #retry(state, reason) {
    const longest = Math.min(longestDelay, firstDelay * 2 ** this.#attempts);
    const delay = longest * (0.5 + Math.random() / 2);
    this.#attempts += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#inTurn(() => this.#open()), delay);
    this.#become(state, reason, Date.now() + delay);
  }
}
