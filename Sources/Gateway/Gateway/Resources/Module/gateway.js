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

const patience = 2000; // ms until "connecting" becomes "waiting"
export const listBound = 1000; // rows that the module keeps of a list

export const random = () => Math.random().toString(36).slice(2, 10);
export const sleep = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
});
const place = ({ item, itemPos }) => item ?? String(itemPos);
const isLive = (status) => Boolean(status?.startsWith("CONNECTED"));

/** Whether an event id lies behind a mark; ids of another epoch do. */
export function isAfter(id, mark) {
  if (!mark) return true;
  const [epoch, number] = id.split("-"), [markEpoch, markNumber] = mark.split("-");
  return epoch !== markEpoch || number.length > markNumber.length
    || (number.length === markNumber.length && number > markNumber);
}

// MARK: - Tables

/** What all tables have: they take the events of a subscription, and tell their rows as the events of a snapshot. */
class Table {
  /**
   * Applies an event of a stream. After `reset`, `subscribed` and the end of the subscription the rows so far are void; while the
   * upstream is away they stay, and are stale.
   */
  apply(name, data) {
    if (name === "update") this.update(data);
    else if (name === "clear-snapshot") this.clear(place(data));
    else if (name === "subscribed" || name === "reset" || (name === "unsubscribed" && data.active === false)) this.clear();
    else if (name === "lost-updates") this.lost?.(place(data));
  }
}

/** MERGE: `rows` has the fields of each item. A row is replaced, never changed. */
export class MergeTable extends Table {
  rows = new Map();
  #positions = new Map();

  update(data) {
    const id = place(data);
    if (!this.rows.has(id)) this.#positions.set(id, [data.item, data.itemPos]);
    this.rows.set(id, { ...this.rows.get(id), ...data.fields });
  }

  clear(id) { if (id === undefined) this.rows.clear(); else this.rows.delete(id); }

  * snapshot() {
    for (const [id, fields] of this.rows) {
      const [item, itemPos] = this.#positions.get(id);
      yield { item, itemPos, snapshot: true, fields };
    }
  }
}

/** COMMAND, in one or two levels: `items` has the rows of each item by key, `rows` those of the first one. */
export class CommandTable extends Table {
  items = new Map();
  #positions = new Map();

  get rows() { return this.items.values().next().value ?? new Map(); }

  update(data) {
    const id = place(data);
    let rows = this.items.get(id);
    if (!rows) {
      this.items.set(id, rows = new Map());
      this.#positions.set(id, [data.item, data.itemPos]);
    }
    if (data.command === "DELETE") rows.delete(data.key);
    else rows.set(data.key, { ...rows.get(data.key), ...data.fields });
  }

  clear(id) { if (id === undefined) this.items.clear(); else this.items.delete(id); }

  * snapshot() {
    for (const [id, rows] of this.items) {
      const [item, itemPos] = this.#positions.get(id);
      for (const [key, fields] of rows) yield { item, itemPos, snapshot: true, key, command: "ADD", fields };
    }
  }
}

/** DISTINCT and RAW: `rows` has the newest events, oldest first, at most `bound`; each with all its fields. */
export class List extends Table {
  rows = [];
  #previous = new Map();

  constructor(bound = 200) {
    super();
    this.bound = bound;
  }

  update(data) {
    const id = place(data);
    const fields = data.values ?? { ...this.#previous.get(id), ...data.fields };
    this.#previous.set(id, fields);
    this.rows.push({ item: data.item, itemPos: data.itemPos, snapshot: data.snapshot, fields });
    // Not at each event: removing the first row moves all others.
    if (this.rows.length > this.bound * 1.25 + 8) this.rows.splice(0, this.rows.length - this.bound);
  }

  /** An event that was lost may have changed any field: those that the next one omits are not known. */
  lost(id) { this.#previous.delete(id); }

  clear(id) {
    this.rows = id === undefined ? [] : this.rows.filter((row) => place(row) !== id);
    if (id === undefined) this.#previous.clear(); else this.#previous.delete(id);
  }

  * snapshot() { for (const row of this.rows.slice(-this.bound)) yield { ...row, snapshot: true, values: row.fields }; }
}

/** The table for a mode. */
export function tableOf(mode, bound) {
  if (mode === "COMMAND") return new CommandTable();
  return mode === "DISTINCT" || mode === "RAW" ? new List(bound) : new MergeTable();
}

/** The events that make an empty table, or any other one, equal to this one. */
export const retold = (table, subscription) => [
  ["reset", "", { subscription }], ...[...table.snapshot()].map((data) => ["update", "", { subscription, ...data }]),
];

const lists = new Set(["items", "fields", "commandSecondLevelFields"]);

/** The members of a subscription in one order and form, so that equal ones have equal texts. */
function normal(spec) {
  const result = {};
  for (const name of Object.keys(spec).sort()) {
    const value = spec[name];
    if (value !== undefined && value !== null) {
      result[name] = lists.has(name) && typeof value === "string" ? value.split(",") : value;
    }
  }
  return result;
}

// MARK: - Requests

/** The gateway refused a request (`problem`: RFC 9457), or did not answer (status 0). */
export class GatewayError extends Error {
  constructor(status, problem, after = 0) {
    super(problem?.detail ?? problem?.title ?? (status ? `The gateway answered with ${status}.` : "The gateway does not answer."));
    this.status = status;
    this.problem = { status, title: this.message, ...problem };
    /** Seconds to wait before another attempt. */
    this.after = after;
  }

  /** Whether another attempt has the same outcome. */
  get isFinal() { return this.status >= 400 && this.status < 500 && ![408, 409, 425, 429].includes(this.status); }
}

/** Not for pages: sends requests with the token, obeys the limits that responses tell, and asks for another token once after a 401. */
export class Requests {
  #free = 0;
  #token;

  constructor(url, credentials, token) {
    Object.assign(this, { url, credentials, ask: token });
  }

  /** Forgets the token: the next request asks for one. */
  renew() { this.#token = undefined; }

  async send(method, path, { body, headers, signal, keepalive } = {}) {
    for (let isRenewed = false; ; isRenewed = true) {
      const pause = this.#free - Date.now();
      if (pause > 0 && !keepalive) await sleep(pause, signal);
      if (this.#token === undefined) this.#token = (await this.ask(isRenewed)) ?? null;
      const all = { ...headers };
      if (this.#token) all.Authorization = `Bearer ${this.#token}`;
      if (body) all["Content-Type"] = "application/json";
      const response = await fetch(this.url + path, {
        method, headers: all, signal, keepalive, cache: "no-store", credentials: this.credentials,
        body: body && JSON.stringify(body),
      }).catch(() => { throw new GatewayError(0); });
      const [, left, reset] = response.headers.get("RateLimit")?.match(/r=(\d+);t=(\d+)/) ?? [];
      if (left === "0") this.#free = Date.now() + reset * 1000;
      if (response.ok) return response;
      if (response.status === 401 && !isRenewed) {
        this.renew();
        continue;
      }
      const problem = await response.json().catch(() => null);
      throw new GatewayError(response.status, problem, Number(response.headers.get("Retry-After")) || 0);
    }
  }

  json(method, path, options) { return this.send(method, path, options).then((response) => response.status === 204 ? null : response.json()); }
}

// MARK: - Channels

const buses = new Map();

/** A BroadcastChannel within this page. */
class LocalChannel {
  constructor(name) {
    this.name = name;
    if (!buses.has(name)) buses.set(name, new Set());
    buses.get(name).add(this);
  }

  postMessage(data) {
    queueMicrotask(() => { for (const other of [...buses.get(this.name) ?? []]) if (other !== this) other.onmessage?.({ data }); });
  }

  close() {
    buses.get(this.name)?.delete(this);
    if (buses.get(this.name)?.size === 0) buses.delete(this.name);
  }
}

export const channel = (scope, name = "") => scope.startsWith("page:") ? new LocalChannel(scope + name) : new BroadcastChannel(scope + name);
export const locks = () => globalThis.navigator?.locks;

// MARK: - Tab

/** One subscription of a tab, for all its handles with equal properties. */
class Sub {
  handles = new Set();
  info = {};
  /** Events up to this id are in the table. */
  skip = "";
  since = null;
  hadValues = false;
  updatedAt = 0;

  constructor(key, spec) {
    Object.assign(this, { key, spec, table: tableOf(spec.mode, listBound) });
  }
}

/** What `subscribe` returns. */
class Handle {
  #gateway;
  #readers = new Set();
  state = { state: "connecting" };
  isClosed = false;

  constructor(gateway, callbacks) {
    this.#gateway = gateway;
    this.on = callbacks;
  }

  /** The rows: a `MergeTable`, `CommandTable` or `List`. */
  get table() { return this.list ?? this.sub.table; }
  get rows() { return this.table.rows; }
  get spec() { return this.sub.spec; }
  get info() { return this.sub.info; }

  /** Subscribes to something else instead. */
  change(spec) { if (!this.isClosed) this.#gateway.move(this, spec); }

  close() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#gateway.move(this, null);
    this.become({ state: "closed" });
    for (const reader of this.#readers) reader.wake?.();
  }

  take(name, data) {
    this.list?.apply(name, data);
    if (name === "update") this.#call("update", data);
    else if (name === "reset") this.#call("reset");
    else this.#call("event", name, data);
    if (name === "update") {
      for (const reader of this.#readers) {
        reader.queue.push(data);
        if (reader.queue.length > (this.on.bound ?? 10_000)) reader.queue.splice(0, 2, { ...reader.queue[1], lost: true });
        reader.wake?.();
      }
    }
  }

  told(info) { this.#call("info", info); }

  changed(isNew) {
    if (isNew) this.#call("snapshot", this.table);
    this.#call("change", this.table);
  }

  become(state) {
    if (JSON.stringify(state) === JSON.stringify(this.state) && this.wasTold) return;
    this.wasTold = true;
    this.state = state;
    this.#call("state", state);
  }

  #call(name, ...values) {
    try {
      this.on[name]?.(...values);
    } catch (error) {
      reportError(error);
    }
  }

  /** The updates from now on, snapshots included. Of a reader that is too slow the oldest ones are dropped. */
  async * [Symbol.asyncIterator]() {
    const reader = { queue: [...this.table.snapshot()] };
    this.#readers.add(reader);
    try {
      while (!this.isClosed || reader.queue.length) {
        if (reader.queue.length) yield reader.queue.shift();
        else await new Promise((resolve) => { reader.wake = resolve; });
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

const sentences = {
  CONNECTING: "The gateway connects to the upstream.",
  STALLED: "The upstream is silent.",
  "DISCONNECTED:WILL-RETRY": "The upstream connection was lost; the gateway connects again.",
  "DISCONNECTED:TRYING-RECOVERY": "The upstream connection was lost; the gateway recovers the session.",
  DISCONNECTED: "The upstream session has ended.",
};

class Gateway {
  #subs = new Map();
  #sources = new Map();
  #id = null;
  #hub = null;
  #stream = null;
  #last = "";
  #conn = { state: "connecting" };
  #since = Date.now();
  #ticker = 0;
  #leaving = null;
  #joins = 0;
  #watchers = new Set();
  #state = null;
  #token = null;

  constructor(url, options) {
    this.url = new URL(url, globalThis.location?.href).href.replace(/\/$/, "");
    this.options = options;
    this.requests = new Requests(this.url, options.credentials ?? "same-origin", async (isRenewed) => options.token?.(isRenewed));
    for (const [name, work] of [
      ["pagehide", () => this.#leave()], ["pageshow", ({ persisted }) => persisted && this.#join()],
      ["online", () => this.#post({ t: "wake" })],
    ]) globalThis.addEventListener?.(name, work);
    for (const [name, work] of [
      ["freeze", () => this.#leave()], ["resume", () => this.#join()],
      ["visibilitychange", () => this.#post({ t: "pace", pace: this.#pace })],
    ]) globalThis.document?.addEventListener(name, work);
    this.#join();
  }

  /** The state of the connection. */
  get state() { return this.#derive(null); }
  /** The id of the stream; null before the first one. */
  get stream() { return this.#stream; }

  subscribe(spec, callbacks = {}) {
    const handle = new Handle(this, callbacks);
    this.move(handle, spec);
    return handle;
  }

  /** A store: `subscribe(run)` calls `run` with each new value and returns the end of that; `get()` is the present one. */
  store(spec, callbacks = {}) {
    const runs = new Set();
    let handle = null;
    let value = { state: { state: "connecting" }, table: tableOf(spec.mode), rows: tableOf(spec.mode).rows };
    const set = () => {
      if (!handle) return;
      value = { state: handle.state, table: handle.table, rows: handle.rows };
      for (const run of [...runs]) run(value);
    };
    return {
      get: () => value,
      subscribe: (run) => {
        runs.add(run);
        run(value);
        handle ??= this.subscribe(spec, { ...callbacks, change: set, state: set });
        return () => {
          runs.delete(run);
          if (runs.size) return;
          const former = handle;
          handle = null;
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
    for (const sub of this.#subs.values()) for (const handle of [...sub.handles]) handle.close();
    this.isClosed = true;
    this.#leave();
  }

  move(handle, spec) {
    const former = handle.sub;
    if (former) {
      former.handles.delete(handle);
      if (former.handles.size === 0) {
        this.#subs.delete(former.key);
        if (this.#sources.get(former.info.source) === former) this.#sources.delete(former.info.source);
        this.#post({ t: "drop", key: former.key });
      }
    }
    if (!spec) return;
    const normalized = normal(spec);
    const key = JSON.stringify(normalized);
    let sub = this.#subs.get(key);
    const isShared = Boolean(sub);
    if (!sub) {
      this.#subs.set(key, sub = new Sub(key, normalized));
      this.#post({ t: "add", key, spec: normalized });
    }
    sub.handles.add(handle);
    handle.sub = sub;
    handle.list = sub.table instanceof List ? new List(handle.on.bound) : null;
    handle.since = Date.now();
    if (former) handle.take("reset", {});
    queueMicrotask(() => {
      if (handle.sub !== sub || handle.isClosed) return;
      handle.become(this.#derive(sub, handle));
      if (!isShared) return;
      handle.told(sub.info);
      for (const [name, , data] of retold(sub.table, sub.info.source)) handle.take(name, data);
      handle.changed(true);
    });
    this.#tick();
  }

  // MARK: Joining and leaving

  get #pace() { return globalThis.document?.hidden && this.options.hidden?.maxFrequency ? 1000 / this.options.hidden.maxFrequency : 0; }

  #post(message) { this.inbox?.postMessage({ ...message, tab: this.#id }); }

  async #join() {
    if (this.#id || this.isClosed) return;
    const id = this.#id = random();
    const leaving = this.#leaving = new AbortController();
    const { signal } = leaving;
    const isShared = Boolean(locks() && globalThis.BroadcastChannel && this.options.share !== "page");
    // Tabs of different users never share a stream.
    const who = await this.#identity();
    if (signal.aborted) return;
    const scope = isShared ? `ls1:${this.url}:${this.options.share ?? ""}:${who}` : `page:${id}`;
    this.own = channel(scope, `:${id}`);
    this.own.onmessage = ({ data }) => this.#receive(data);
    this.all = channel(scope);
    this.all.onmessage = ({ data }) => this.#receive(data);
    this.inbox = channel(scope, ":hub");
    const config = { scope, url: this.url, credentials: this.options.credentials ?? "same-origin" };
    if (isShared) {
      // As long as this tab lives it holds this lock; the hub waits for it.
      await new Promise((held) => {
        locks().request(`${scope}:${id}`, () => new Promise((resolve) => {
          held();
          if (signal.aborted) resolve(); else signal.addEventListener("abort", resolve, { once: true });
        }));
      });
      if (this.options.share !== "tabs") await this.#startWorker(config);
      if (signal.aborted) return;
    }
    import("./gateway-hub.js").then(({ contend }) => contend({ ...config, tab: id }, signal));
    this.#hello();
  }

  async #identity() {
    const token = this.#token = (await this.requests.ask(false).catch(() => null)) ?? null;
    if (!token) return "";
    const text = token.split(".").length === 3 ? token.split(".")[1] : token;
    let subject = text;
    try {
      const { iss, sub } = JSON.parse(atob(text.replace(/-/g, "+").replace(/_/g, "/")));
      if (sub) subject = `${iss} ${sub}`;
    } catch {}
    if (!globalThis.crypto?.subtle) return "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(subject));
    return [...new Uint8Array(digest, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** Asks a SharedWorker of this origin to be the hub; resolves when it is in the queue, or there is none. */
  #startWorker(config) {
    return new Promise((resolve) => {
      try {
        const worker = new SharedWorker(new URL("./gateway-hub.js", import.meta.url), { type: "module", name: "lightstreamer-gateway" });
        worker.onerror = resolve;
        worker.port.onmessage = resolve;
        worker.port.postMessage(config);
        this.worker = worker;
        // A worker whose process was ended answers nothing; this tab queues without it.
        setTimeout(resolve, patience);
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
    this.#leaving.abort();
    for (const one of [this.own, this.all, this.inbox]) one?.close();
    this.inbox = null;
    this.#become({ state: "connecting" });
  }

  #hello(isHandOver = false) {
    this.#post({
      t: "hello", token: this.#token, stream: this.#stream, last: this.#last, pace: this.#pace,
      subs: [...this.#subs.values()].map((sub) => {
        const isWhole = Boolean(isHandOver && sub.info.source && this.#last && sub.since !== this.#last);
        sub.isWhole = isWhole;
        sub.skip = isWhole ? this.#last : "";
        return { key: sub.key, spec: sub.spec, isWhole, info: sub.info, events: isWhole ? [...sub.table.snapshot()] : [] };
      }),
    });
  }

  // MARK: From the hub

  #receive(message) {
    if (message.t === "hub") {
      const isHandOver = this.#hub !== null && this.#hub !== message.hub;
      if (this.#hub === message.hub) return;
      this.#hub = message.hub;
      return this.#hello(isHandOver);
    }
    if (message.t === "welcome" && this.#hub === null) this.#hub = message.hub;
    if (message.hub !== this.#hub) return;
    if (message.t === "token") return this.#answer();
    if (message.t === "conn" || message.t === "welcome") {
      this.#stream = message.stream ?? this.#stream;
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
    if (sub) this.#apply(JSON.parse(message.text), sub, message.at);
    else if (!message.key) this.#apply(JSON.parse(message.text));
    this.#last = message.last;
  }

  async #answer() {
    this.#token = await this.requests.ask(true).catch(() => null);
    this.#post({ t: "token", token: this.#token });
  }

  #inform(sub, info) {
    if (this.#sources.get(sub.info.source) === sub) this.#sources.delete(sub.info.source);
    sub.info = info;
    if (info.source) {
      const others = this.#sources.get(info.source);
      this.#sources.set(info.source, others && others !== sub ? [...new Set([others, sub].flat())] : sub);
    }
    for (const handle of [...sub.handles]) handle.told(info);
    this.#show(sub);
  }

  #apply(events, only, at) {
    const touched = new Map();
    for (const [name, id, data] of events) {
      if (data.subscription === undefined) {
        for (const sub of this.#subs.values()) if (sub.info.client === data.client) for (const handle of sub.handles) handle.take(name, data);
        continue;
      }
      for (const sub of only ? [only] : [this.#sources.get(data.subscription) ?? []].flat()) {
        if (!only && id && sub.skip && !isAfter(id, sub.skip)) continue;
        if (id || name === "reset") sub.skip = "";
        this.#take(sub, name, data, touched);
      }
    }
    if (only) only.skip = at ?? "";
    for (const [sub, isNew] of touched) {
      for (const handle of [...sub.handles]) handle.changed(isNew);
      this.#show(sub);
    }
  }

  #take(sub, name, data, touched) {
    sub.table.apply(name, data);
    if (name === "reset") {
      sub.since = this.#last;
      sub.isWhole = true;
    }
    if (name === "update") {
      sub.updatedAt = Date.now();
      sub.hadValues = true;
    }
    touched.set(sub, touched.get(sub) || name === "reset");
    for (const handle of [...sub.handles]) handle.take(name, data);
  }

  // MARK: States

  #become(conn) {
    if (conn.state !== this.#conn.state) this.#since = Date.now();
    this.#conn = conn;
    for (const sub of this.#subs.values()) this.#show(sub);
    const text = JSON.stringify(this.state);
    if (text !== this.#state) for (const run of this.#watchers) run(this.state);
    this.#state = text;
    this.#tick();
  }

  #show(sub) { for (const handle of [...sub.handles]) handle.become(this.#derive(sub, handle)); }

  #derive(sub, handle) {
    const conn = this.#conn;
    const refusal = sub?.info.problem ?? (conn.state === "refused" ? conn.problem : null);
    if (refusal) return { state: "refused", reason: refusal.detail ?? refusal.meaning ?? refusal.title, problem: refusal };
    if (!sub && (this.#subs.size === 0 || conn.state === "idle")) return { state: "idle" };
    if (conn.state === "reconnecting") {
      const { attempt, nextAt, reason, problem } = conn;
      return { state: "reconnecting", attempt, nextAt, reason, ...problem && { problem } };
    }
    const stale = (reason) => ({ state: "stale", reason, since: sub?.updatedAt || null });
    if (conn.state === "open" && conn.isSilent) return stale("The gateway is silent.");
    if (conn.state === "open" && !sub) return { state: "open", resume: conn.resume, sources: conn.sources };
    if (conn.state === "open" && (sub.info.subscribed && isLive(sub.info.status))) return { state: "open" };
    const reason = conn.state !== "open" ? `The gateway at ${this.url} has not answered yet.`
      : sub.info.source ? sentences[sub.info.status] ?? "The upstream has not answered yet." : "The subscription is being added to the stream.";
    if (sub?.hadValues && conn.state === "open") return stale(reason);
    const isLate = Date.now() - Math.max(this.#since, handle?.since ?? 0) >= patience;
    return isLate ? { state: "waiting", reason } : { state: "connecting" };
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
export const connect = (url = location.origin, options = {}) => new Gateway(url, options);
