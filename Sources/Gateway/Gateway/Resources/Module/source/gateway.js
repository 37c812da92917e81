// Live data of a Lightstreamer gateway in a page: all subscriptions of all tabs of an origin over one stream.
//
//   import { connect } from "https://gateway.example.com/assets/gateway.js";
//   const gateway = connect("https://gateway.example.com", { token: () => key });
//   const quotes = gateway.subscribe({ upstream: "demo", mode: "MERGE", items: ["item1"], fields: ["last_price"] },
//     { update: ({ item, fields }) => …, state: ({ state, reason }) => … });
//
// A *tab* is one `connect`; it has the subscriptions and their tables. A *hub* reads the stream and serves the tabs. It
// lives in a SharedWorker, or in one of the tabs, or, without Web Locks, in each. Whoever holds the lock of the scope is
// the hub. When it dies, the next in the queue continues the stream after the last event that every tab has.

import { channel, ended, locks, random, slice, turn } from "./channels.js";
import { Handle, Sub } from "./handle.js";
import { contend } from "./hub.js";
import { Requests, sleep } from "./requests.js";
import { derived, patience } from "./states.js";
import { fit, isAfter, normal, retold, tableOf } from "./tables.js";

export { serve } from "./hub.js";

/** A digest of the subject of a token, or of a token without one: tabs of different users never share a stream. */
async function digest(token) {
  let subject = `${token}`;
  try {
    // In quotes, since `sub` is also an internal name, which the bundle shortens.
    const { iss, "sub": user } = JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    if (user) subject = `${iss} ${user}`;
  } catch {}
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject))).join();
}

/** Calls each function of a set that is still there; what one throws does not concern the others. */
function call(runs, value) {
  for (const run of [...runs]) {
    try {
      if (runs.has(run)) run(value);
    } catch (error) {
      reportError(error);
    }
  }
}

class Gateway {
  #subs = new Map();
  /** The subscriptions by the ids of their sources: equal sources may have several texts. */
  #sources = new Map();
  #id = null;
  /** The messages of the hub that are still to be applied, in their order. */
  #queue = [];
  /** When the present slice of that began. */
  #start = 0;
  #hub = null;
  #stream = null;
  #last = "";
  #conn = { state: "connecting" };
  #since = Date.now();
  #ticker = 0;
  /** Runs while the hub may tell the state of the connection in time. */
  #patience = 0;
  #leaving = null;
  #end = new AbortController();
  #closing = { signal: this.#end.signal };
  #watchers = new Set();
  #state = null;
  /** Null if the page has none; undefined if it could not give one, so that its user is not known. */
  #token = null;
  /** The digest of the user whose stream this tab reads; false where the stream is that of the tab alone. */
  #user = false;

  constructor(url, options) {
    this.url = new URL(url, globalThis.location?.href).href.replace(/\/$/, "");
    this.options = options;
    this.requests = new Requests(this.url, options.credentials ?? "same-origin", async (isRenewed) => (await options.token?.(isRenewed)) ?? null);
    for (const [name, work] of [
      ["pagehide", () => this.#leave()], ["pageshow", () => this.#join()], ["online", () => this.#post({ t: "wake" })],
    ]) globalThis.addEventListener?.(name, work, this.#closing);
    for (const [name, work] of [
      ["freeze", () => this.#leave()], ["resume", () => this.#join()],
      ["visibilitychange", () => this.#post({ t: "pace", pace: this.#pace })],
    ]) globalThis.document?.addEventListener(name, work, this.#closing);
    this.#join();
  }

  /** The state of the connection. */
  get state() { return this.#derive(null); }
  /** The id of the stream; null before the first one. */
  get stream() { return this.#stream; }

  subscribe(spec, callbacks = {}) {
    const handle = new Handle(this, callbacks);
    this.move(handle, spec);
    if (this.isClosed) handle.close();
    return handle;
  }

  /** A store: `subscribe(run)` calls `run` with each new value and returns the end of that; `get()` is the present one. */
  store(spec, callbacks = {}) {
    const runs = new Set();
    let handle = null;
    const of = ({ state, table }) => ({ state, table, rows: table.rows });
    const nothing = () => of({ state: { state: "connecting" }, table: tableOf(spec.mode) });
    let value = nothing();
    const set = () => handle && call(runs, value = of(handle));
    return {
      get: () => value,
      subscribe: (run) => {
        runs.add(run);
        handle ??= this.subscribe(spec, { ...callbacks, change: set, state: set });
        if (this.isClosed) value = of(handle);
        run(value);
        return () => {
          runs.delete(run);
          if (runs.size) return;
          const former = handle;
          handle = null;
          value = nothing();
          former?.close();
        };
      },
    };
  }

  /** Calls `run` with each state of the connection; returns the end of that. */
  watch(run) {
    this.#watchers.add(run);
    run(this.state);
    return () => this.#watchers.delete(run);
  }

  /** Tries again at once, also what was refused. */
  retry() { this.#post({ t: "wake", isForced: true }); }

  /** A request to the gateway with the token: the parsed response. Throws `GatewayError`. */
  request(method, path, body, headers) { return this.requests.json(method, path, { body, headers }); }

  close() {
    for (const sub of this.#subs.values()) sub.each((handle) => handle.close());
    this.isClosed = true;
    this.#leave();
    this.#become({ state: "closed" });
    this.#end.abort();
  }

  move(handle, spec) {
    const former = handle.sub;
    if (former) {
      former.handles.delete(handle);
      if (!former.handles.size) {
        this.#subs.delete(former.key);
        this.#unlink(former);
        this.#post({ t: "drop", key: former.key });
      }
    }
    if (!spec) return;
    const key = JSON.stringify(normal(spec));
    let sub = this.#subs.get(key);
    const isShared = !!sub;
    if (!sub) {
      // A copy: messages take no proxies of a framework, and the application may change what it gave.
      this.#subs.set(key, sub = new Sub(key, JSON.parse(key)));
      this.#post({ t: "add", key, spec: sub.spec });
    }
    sub.handles.add(handle);
    handle.sub = sub;
    handle.fit();
    handle.since = Date.now();
    if (former) handle.take("reset", {});
    queueMicrotask(() => {
      // Until a callback closes or changes it.
      const then = (run) => sub.handles.has(handle) && run();
      then(() => handle.become(this.#derive(sub, handle)));
      if (!isShared) return;
      then(() => handle.told(sub.info));
      for (const [name, , data] of retold(sub.table, sub.info.source)) then(() => handle.take(name, data));
      then(() => handle.changed(true));
    });
    this.#tick();
  }

  // MARK: Joining and leaving

  get #pace() { return (globalThis.document?.hidden && 1000 / this.options.hidden?.maxFrequency) || 0; }

  #post(message) { this.inbox?.postMessage({ ...message, tab: this.#id }); }

  async #join(token) {
    if (this.#id || this.isClosed) return;
    const id = this.#id = random(), { signal } = this.#leaving = new AbortController();
    // Where the user blocks storage, no lock is granted.
    const isShared = this.options.share !== "page" && globalThis.BroadcastChannel && await locks?.query().catch(() => null);
    this.#token = token === undefined ? await Promise.race([this.requests.ask(false).catch(() => {}), sleep(5000, signal)]) : token;
    this.#user = isShared && await digest(this.#token);
    const scope = isShared ? `ls1:${this.url}:${this.options.share ?? ""}${this.options.credentials ?? ""}:${this.#user}` : `page:${id}`;
    if (signal.aborted) return;
    this.own = channel(scope, `:${id}`);
    this.own.onmessage = ({ data }) => this.#receive(data);
    this.all = channel(scope);
    this.all.onmessage = ({ data }) => this.#receive(data);
    this.inbox = channel(scope, ":hub");
    const config = { scope, url: this.url, credentials: this.requests.credentials };
    if (isShared) {
      // As long as this tab lives it holds this lock; the hub waits for it.
      await new Promise((held) => {
        locks.request(`${scope}:${id}`, () => {
          held();
          return ended(signal);
        });
      });
      if (this.options.share !== "tabs") await this.#startWorker(config);
      if (signal.aborted) return;
    }
    contend({ ...config, tab: id }, signal);
    this.#hello();
  }

  /** Asks a SharedWorker of this origin to be the hub; resolves when it is in the queue, or there is none. */
  #startWorker(config) {
    return new Promise((resolve) => {
      // A worker whose process was ended answers nothing; this tab queues without it.
      setTimeout(resolve, patience);
      try {
        const worker = this.worker = new SharedWorker(new URL("./gateway-hub.js", import.meta.url), { type: "module" });
        worker.onerror = worker.port.onmessage = resolve;
        worker.port.postMessage(config);
      } catch {
        resolve();
      }
    });
  }

  #leave() {
    if (!this.#id) return;
    this.#post({ t: "bye" });
    this.#id = null;
    this.#hub = null;
    this.#stream = null;
    this.#last = "";
    this.worker?.port.close();
    clearTimeout(this.#patience);
    this.#leaving.abort();
    this.#queue = [];
    this.own?.close();
    this.all?.close();
    this.inbox?.close();
    this.inbox = null;
    this.#become({ state: "connecting" });
  }

  #hello(isHandOver) {
    this.#post({
      t: "hello", token: this.#token, stream: this.#stream, last: this.#last, pace: this.#pace,
      subs: [...this.#subs.values()].map((sub) => {
        const isWhole = sub.isWhole = isHandOver && sub.info.source && this.#last && sub.since !== this.#last;
        sub.skip = isWhole ? this.#last : "";
        return { key: sub.key, spec: sub.spec, isWhole, info: sub.info, events: isWhole ? [...sub.table.snapshot()] : [], ended: sub.table.ended };
      }),
    });
  }

  // MARK: From the hub

  async #receive(message) {
    const queue = this.#queue;
    if (queue.push(message) > 1) return;
    this.#start = Date.now();
    for (; queue[0] && queue === this.#queue; queue.shift()) await this.#take(queue[0]).catch(reportError);
  }

  async #take(message) {
    if (message.t === "hub") {
      if (this.#hub === message.hub) return;
      const isHandOver = this.#hub !== null;
      this.#hub = message.hub;
      return this.#hello(isHandOver);
    }
    if (message.t === "welcome") this.#hub ??= message.hub;
    if (message.hub !== this.#hub) return;
    // Not awaited: events do not wait for a token.
    if (message.t === "token") return void this.#answer();
    if (message.t === "conn" || message.t === "welcome") {
      this.#stream = message.stream ?? this.#stream;
      clearTimeout(this.#patience);
      // A hub that is not blocked tells this more often, though timers of hidden tabs run once a minute. Hubs of former versions tell it rarely, as `false`.
      if (message.conn.isSilent === 0) this.#patience = setTimeout(() => this.#become({ ...this.#conn, isSilent: true }), 90_000);
      return this.#become(message.conn);
    }
    const sub = this.#subs.get(message.key);
    if (message.t === "info" && sub) return this.#inform(sub, message.info);
    // A tab without the whole state of what the hub has asks for it.
    if (message.t === "check" && sub && !sub.isWhole) {
      this.#post({ t: "drop", key: sub.key });
      this.#post({ t: "add", key: sub.key, spec: sub.spec });
    }
    if (message.t !== "events") return;
    const { signal } = this.#leaving;
    if (sub || !message.key) await this.#apply(JSON.parse(message.text), signal, sub, message.at);
    if (!signal.aborted) this.#last = message.last;
  }

  async #answer() {
    let failure;
    const token = await this.requests.ask(true).catch((error) => { failure = `${error?.message || error || "No token"}`; });
    if (!failure) {
      if (this.#user && this.#user !== await digest(token)) {
        // The user is known only now, or has changed; other tabs here may have another one.
        this.#leave();
        return this.#join(token);
      }
      this.#token = token;
    }
    this.#post({ t: "token", token, failure });
  }

  #inform(sub, info) {
    this.#unlink(sub);
    // A tab has the whole of a source once its reset and another event have come.
    if (sub.info.source !== info.source) sub.since = this.#last;
    sub.info = info;
    // Of a feed the gateway knows the mode. It is told before the first event.
    if (fit(sub, info.mode)) for (const handle of sub.handles) handle.fit();
    if (info.source) this.#sources.set(info.source, new Set(this.#sources.get(info.source)).add(sub));
    sub.each((handle) => handle.told(info));
    this.#show(sub);
  }

  /** Forgets the source of a subscription. */
  #unlink(sub) {
    const { source } = sub.info, subs = this.#sources.get(source);
    subs?.delete(sub);
    if (!subs?.size) this.#sources.delete(source);
  }

  /** Applies events, in slices, unless `signal` ends it; `only`: to one subscription. */
  async #apply(events, signal, only, at) {
    const touched = new Map();
    for (const [name, id, data] of events) {
      if (Date.now() - this.#start > slice) {
        await turn();
        if (signal.aborted) return;
        this.#start = Date.now();
      }
      if (data.subscription === undefined) {
        for (const sub of this.#subs.values()) if (sub.info.client === data.client) sub.each((handle) => handle.take(name, data));
        continue;
      }
      for (const sub of only ? [only] : this.#sources.get(data.subscription) ?? []) {
        if (!(only || data.conflated || isAfter(id, sub.skip))) continue;
        if (id || name === "reset") sub.skip = "";
        this.#update(sub, name, data, touched);
      }
    }
    if (only) only.skip = at ?? "";
    for (const [sub, isNew] of touched) {
      sub.each((handle) => handle.changed(isNew));
      this.#show(sub);
    }
  }

  #update(sub, name, data, touched) {
    sub.table.apply(name, data);
    if (name === "reset") {
      sub.since = this.#last;
      sub.isWhole = true;
    }
    // Undefined without a value; null while all values are those of a snapshot, whose time is not known.
    if (name === "update") sub.updatedAt = data.snapshot ? sub.updatedAt ?? null : Date.now();
    touched.set(sub, touched.get(sub) || name === "reset");
    sub.each((handle) => handle.take(name, data));
  }

  // MARK: States

  #become(conn) {
    if (conn.state !== this.#conn.state) this.#since = Date.now();
    this.#conn = conn;
    for (const sub of this.#subs.values()) this.#show(sub);
    const text = JSON.stringify(this.state);
    if (text !== this.#state) call(this.#watchers, this.state);
    this.#state = text;
    this.#tick();
  }

  #show(sub) { sub.each((handle) => handle.become(this.#derive(sub, handle))); }

  #derive(sub, handle) {
    if (this.isClosed) return { state: "closed" };
    if (!sub && !this.#subs.size) return { state: "idle" };
    return derived(this.#conn, sub, Math.max(this.#since, handle?.since ?? 0), this.url);
  }

  /** Looks again while something may become late. */
  #tick() {
    clearTimeout(this.#ticker);
    if (this.isClosed) return;
    const isPending = this.#conn.state === "connecting" || [...this.#subs.values()].some((sub) => [...sub.handles].some(({ state }) => state.state === "connecting"));
    if (isPending) this.#ticker = setTimeout(() => this.#become(this.#conn), patience + 50);
  }
}

/**
 * Connects a page to a gateway. Options: `token` gives the key or token, and is called again after a 401; `credentials`
 * ("include" for the cookie from another origin); `hidden: { maxFrequency }`, deliveries a second while the page is
 * hidden; `share`: "tabs" without a SharedWorker, "page" for a stream of this page alone.
 */
export const connect = (url = origin, options = {}) => new Gateway(url, options);
