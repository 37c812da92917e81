// The feeds of this page as subscriptions of gateway.js: one stream for all dashboards of this browser.

import { access, get, hasKey, keyText, ProblemError } from "/assets/api.js";
import { connect } from "/assets/gateway.js";

const mostReads = 10;

/** The words of this page for the states of the module. */
function described({ state, reason, nextAt, problem, resume, sources }, stream) {
  switch (state) {
  case "idle": return { state: "idle", reason: null, retryAt: null };
  case "connecting": case "waiting": return { state: "opening", reason: reason ?? null, retryAt: null };
  case "reconnecting": return { state: problem?.status === 0 ? "gone" : "reconnecting", reason, retryAt: nextAt };
  case "refused": return { state: "refused", reason: reason ?? problem.title, retryAt: null };
  // The stream is silent for longer than its heartbeats are apart.
  case "stale": return { state: "open", reason, retryAt: null, isSilent: true };
  default: return { state: "open", reason: null, retryAt: null, stream, resume, sources };
  }
}

/**
 * Dispatches `state` (detail `{state, reason, retryAt, isSilent}`; state: idle, opening, open, reconnecting, gone or refused), `event`
 * (detail `{name, data, feed}`; feed is null for events of clients and of the stream) and `refused` (detail `{feed, error}`).
 */
export class LiveStream extends EventTarget {
  state = "idle";
  #isSilent = false;
  #gateway = null;
  #handles = new Map();
  /** The last event that concerns several feeds, which is told once. */
  #told = null;

  get feeds() { return [...this.#handles.keys()]; }

  /** The id of the stream; null before the first one. */
  get id() { return this.#gateway?.stream ?? null; }

  /** Adds a feed to the stream. */
  join(feed) { this.#handles.set(feed, this.#subscribe(feed)); }

  /** Takes a feed out of the stream. */
  leave(feed) {
    this.#handles.get(feed)?.close();
    this.#handles.delete(feed);
  }

  /** Tries again at once, also what was refused. */
  reconnect() { this.#gateway?.retry(); }

  /** Discards the stream and opens a new one. Used after a change of credentials. */
  restart() {
    this.#gateway?.close();
    this.#gateway = null;
    for (const feed of this.feeds) this.join(feed);
  }

  #subscribe(feed) {
    this.#gateway ??= this.#connect();
    const handle = this.#gateway.subscribe(feed.spec, {
      reset: () => feed.sourceState(handle.info, "fresh"),
      update: (data) => this.#event("update", data, feed),
      event: (name, data) => this.#event(name, data, data.subscription ? feed : null),
      info: (info) => this.#inform(feed, info),
    });
    return handle;
  }

  #connect() {
    const gateway = connect(location.origin, { token: () => keyText() });
    gateway.watch((state) => this.#become(gateway, state));
    return gateway;
  }

  #become(gateway, state) {
    // Of a gateway that this page discards.
    if (state.state === "closed") return;
    const detail = described(state, gateway.stream), wasSilent = this.#isSilent;
    [this.state, this.#isSilent] = [detail.state, detail.isSilent];
    if (state.state === "refused" && state.problem.status === 401) {
      access.dispatchEvent(new CustomEvent("needed", { detail: { wasKey: hasKey() } }));
    }
    // The same stream goes on after a silence.
    if (state.resume && !wasSilent) this.#tell("stream", { stream: gateway.stream, resume: state.resume, sources: state.sources }, null);
    this.dispatchEvent(new CustomEvent("state", { detail }));
  }

  #event(name, data, feed) {
    if (feed) {
      feed.subscription = data.subscription;
      feed.apply(name, data);
      // If its session is still connected, the subscription was removed: the reason is in the resource.
      if (name === "unsubscribed" && feed.isConnected) this.#readReason(feed);
    } else {
      if (data === this.#told) return;
      this.#told = data;
      for (const other of this.feeds) other.clientEvent(name, data);
    }
    this.#tell(name, data, feed);
  }

  #tell(name, data, feed) { this.dispatchEvent(new CustomEvent("event", { detail: { name, data, feed } })); }

  /** Takes what the module knows of a source, or why the gateway refused it. */
  #inform(feed, info) {
    if (info.problem?.status >= 400) {
      const error = new ProblemError(info.problem.status, info.problem);
      feed.refuse(error);
      return this.dispatchEvent(new CustomEvent("refused", { detail: { feed, error } }));
    }
    if (!info.source) return;
    feed.subscription = info.source;
    feed.sourceState(info, "resumed");
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
      if (client) feed.clientStatus(client.status, client.lastServerError, client.lastFailure);
      return;
    }
  }
}
