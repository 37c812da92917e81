// The hub: it reads one stream for all tabs of a scope, in one of them or in a SharedWorker.

import { Backoff, longest } from "./backoff.js";
import { channel, ended, locks, random, slice, turn } from "./channels.js";
import { read } from "./events.js";
import { GatewayError, Requests, sleep } from "./requests.js";
import { isLive } from "./states.js";
import { fit, isAfter, retold } from "./tables.js";

const silence = 60_000; // ms without a byte after which a stream is lost, where heartbeats are not rarer; half of it makes values stale
const health = 10_000; // ms after which a stream without updates counts as healthy
const linger = 1000; // ms for which the hub keeps what no tab needs
const batching = 20; // ms for which changes of the subscriptions are collected
const lasting = ["revoked", "stream-limit"]; // codes of refusals that another attempt has too

/** Resolves once changes are collected. In a hidden page a timer would wait for a second, and longer where the page works much. */
const collected = () => globalThis.document?.hidden ? turn() : sleep(batching);

/** Becomes the hub of a scope once no other is; `signal` ends it. */
export async function contend(config, signal) {
  const lead = async () => {
    if (signal?.aborted) return;
    const hub = new Hub(config);
    await ended(signal);
    hub.stop();
  };
  if (config.scope.startsWith("page:")) return lead();
  return locks.request(config.scope, { signal }, lead).catch(() => {});
}

const scopes = new Set();

/** What the SharedWorker does for a page that connects: it becomes the hub of each scope that the page names. */
export function serve({ ports: [port] }) {
  port.onmessage = ({ data }) => {
    if (!scopes.has(data.scope)) {
      scopes.add(data.scope);
      contend(data);
    }
    port.postMessage(0);
  };
}

// MARK: - Hub

/** One subscription of the stream, for all tabs that have an equal one. */
class Entry {
  keys = new Set();
  tabs = new Set();
  /** Its id at the gateway; null while the stream does not have it. */
  source = null;
  /** The last event before its present state began: until another one came, the state may be a part of it. */
  since = null;
  /** Events up to this id are in the table. */
  skip = "";
  info = {};
  idleAt = 0;
  /** Runs until a quota is asked for again. */
  timer = 0;

  constructor(key, spec) {
    this.keys.add(key);
    this.spec = spec;
    fit(this, spec.mode);
  }

  /** Whether a tab needs it, and the gateway may still supply it: of a session that was refused it opens another one. */
  get isNeeded() { return this.tabs.size && (!this.info.problem || this.kind === "session"); }
}

/** The source of an entry, as requests have it. The mode of a feed is known to the gateway. */
function sourceOf({ spec: { mode, ...spec } }) { return spec.feed ? spec : { mode, ...spec }; }

/** What an event tells of a client. */
const statusOf = ({ status, lastFailure }) => ({ status, lastFailure });

class Hub {
  id = random();
  /** The newest one, or the one whose user demanded another attempt, first. */
  #tabs = new Map();
  #entries = new Map();
  #sources = new Map();
  /** The states of the sources that the stream told last, and those of them that no entry has. */
  #states = new Map();
  /** The sources that the stream had before the entries that are added to it. */
  #known = null;
  /** The status of each client that the stream told last, and the cause of its last failure. */
  #clients = new Map();
  #early = null;
  #stray = new Set();
  #stream = null;
  #last = "";
  #conn = { state: "connecting" };
  #backoff = new Backoff();
  #isOpen = false;
  /** Whether the gateway did not know the stream at the last attempt. */
  #wasUnknown = false;
  /** The milliseconds without a byte after which the stream is lost. The gateway does not tell the interval of its heartbeats. */
  #silence = silence;
  #isStopped = false;
  #stopping = new AbortController();
  #reading = null;
  #waiting = null;
  #wake = null;
  /** Until the next change of the open stream begins: ends the pause before the change. */
  #due = null;
  #isFlushing = false;
  /** The delays of changes of the stream that fail. */
  #changes = new Backoff();
  #dirty = new Set();
  #token;
  #codes = null;
  /** While the tabs of the former hub are awaited: looks whether all of them are there. */
  #gathering = null;

  constructor({ scope, url, credentials, tab }) {
    this.scope = scope;
    /** The tab that this hub lives in, if any: both end together. */
    this.own = tab;
    this.requests = new Requests(url, credentials, (isRenewed) => this.#askForToken(isRenewed));
    this.inbox = channel(scope, ":hub");
    this.inbox.onmessage = ({ data }) => this.#receive(data);
    this.all = channel(scope);
    this.#run();
  }

  /** Ends without closing the stream, unless nobody is left to continue it. */
  stop() {
    this.#isStopped = true;
    this.#stopping.abort();
    this.#waiting?.();
    this.#reading?.abort();
    this.#wake?.abort();
    if (this.#tabs.size <= this.#tabs.has(this.own)) this.#discard();
    this.inbox.close();
    this.all.close();
    for (const tab of this.#tabs.values()) tab.channel.close();
  }

  #discard() {
    if (this.#stream) this.requests.send("DELETE", `/v1/streams/${this.#stream}`, { keepalive: true }).catch(() => {});
    this.#stream = null;
    this.#last = "";
    this.#backoff.retry = 0;
    this.#stray.clear();
    this.#unmap();
    this.#reading?.abort();
  }

  #unmap() {
    this.#sources.clear();
    for (const entry of this.#entries.values()) entry.source = null;
  }

  // MARK: Tabs

  #receive(message) {
    if (message.t === "hello") return this.#hello(message);
    const tab = this.#tabs.get(message.tab);
    if (!tab) return message.t === "bye" || this.#ask();
    if (message.t === "add") this.#add(tab, message);
    else if (message.t === "drop") this.#drop(tab, message.key);
    else if (message.t === "bye") this.#remove(tab);
    else if (message.t === "token") tab.answer?.(message);
    else if (message.t === "pace") {
      tab.pace = message.pace;
      this.#flushTabs();
    }
    else if (message.t === "wake") {
      // The tab of a user who demands another attempt is asked for a token first.
      if (message.isForced) {
        this.#tabs = new Map([[tab.id, tab], ...this.#tabs]);
        this.#token = undefined;
      }
      this.#retryNow(message.isForced);
    }
  }

  /** A tab that this hub does not know has to introduce itself. */
  #ask() { if (!this.#isStopped) this.all.postMessage({ t: "hub", hub: this.id }); }

  #hello(message) {
    if (this.#tabs.has(message.tab)) return;
    const tab = { id: message.tab, channel: channel(this.scope, `:${message.tab}`), keys: new Set(), batch: [], at: 0, pace: message.pace };
    this.#tabs = new Map([[tab.id, tab], ...this.#tabs]);
    this.#token = message.token;
    if (this.#isRefused) this.#retryNow(true);
    if (!this.scope.startsWith("page:")) {
      locks.request(`${this.scope}:${tab.id}`, { signal: this.#stopping.signal }, () => this.#remove(tab)).catch(() => {});
    }
    if (this.#gathering) this.#adopt(message);
    this.#tell(tab, { t: "welcome", stream: this.#stream, conn: this.#conn });
    for (const sub of message.subs) this.#add(tab, sub, this.#gathering && sub.isWhole);
    this.#gathering?.();
  }

  /** Takes over the stream and the tables of the former hub, as one of its tabs knows them. */
  #adopt({ stream, last, subs }) {
    if (!stream || !last || (this.#stream && this.#stream !== stream)) return;
    this.#stream = stream;
    if (!this.#last || !isAfter(last, this.#last)) this.#last = last;
    // Of tabs of two epochs none is behind the other: after an unknown id, the stream begins with a snapshot.
    else if (isAfter(this.#last, last)) this.#last = "-";
    for (const { key, spec, info, events, isWhole, ended = new Map() } of subs) {
      if (!isWhole) continue;
      // Equal sources may have several texts; a tab without the whole of one is asked again later.
      const entry = this.#sources.get(info.source) ?? this.#entries.get(key) ?? new Entry(key, spec);
      this.#entries.set(key, entry);
      entry.keys.add(key);
      if (entry.source && !isAfter(last, entry.skip)) continue;
      entry.source = info.source;
      entry.info = info;
      entry.skip = last;
      fit(entry, info.mode);
      entry.table.clear();
      for (const event of events) entry.table.update(event);
      // Former versions of the module do not tell it.
      entry.table.ended = ended;
      this.#sources.set(info.source, entry);
    }
  }

  #add(tab, { key, spec }, isKnown) {
    let entry = this.#entries.get(key);
    if (!entry) this.#entries.set(key, entry = new Entry(key, spec));
    if (!entry.tabs.size) this.#clear(entry);
    tab.keys.add(key);
    entry.tabs.add(tab);
    if (this.#isRefused) this.#refuse(entry, this.#conn.problem, "problem");
    // After a hand-over the tab has its rows already; otherwise it gets those that the hub has, also while it has no stream.
    if (entry.info.source && !isKnown) this.#sync(tab, key, entry);
    else this.#tell(tab, { t: "info", key, info: entry.info });
    this.#flushSoon();
    this.#waiting?.();
  }

  /** Forgets a refusal. The server is asked again for a source that is removed and added; refusals of the gateway have a status. */
  #clear(entry) {
    const { problem, source } = entry.info;
    if (!problem) return;
    entry.info = { source: problem.status && source };
    if (problem.status || !this.#sources.delete(entry.source)) return;
    this.#stray.add(entry.source);
    entry.source = null;
  }

  #sync(tab, key, entry) {
    this.#flush(tab);
    this.#tell(tab, { t: "info", key, info: entry.info });
    this.#tell(tab, { t: "events", last: this.#last, at: entry.skip, text: JSON.stringify(retold(entry.table, entry.info.source)), key });
  }

  #drop(tab, key) {
    const entry = this.#entries.get(key);
    tab.keys.delete(key);
    if (!entry || [...entry.keys].some((other) => tab.keys.has(other))) return;
    entry.tabs.delete(tab);
    if (entry.tabs.size) return;
    entry.idleAt = performance.now();
    // Not a moment too early: timers are less exact than the clock.
    setTimeout(() => this.#flushSoon(), linger + batching);
  }

  #remove(tab) {
    if (this.#tabs.get(tab.id) !== tab) return;
    for (const key of [...tab.keys]) this.#drop(tab, key);
    this.#tabs.delete(tab.id);
    tab.answer?.();
    clearTimeout(tab.timer);
    tab.channel.close();
    if (!this.#tabs.size && !this.#isStopped) this.#discard();
  }

  #tell(tab, message) { if (!this.#isStopped) tab.channel.postMessage({ ...message, hub: this.id }); }

  #become(conn) {
    if (this.#isStopped) return;
    this.#conn = conn;
    this.all.postMessage({ t: "conn", conn, stream: this.#stream, hub: this.id });
  }

  /**
   * The token that the newest tab brought; after a refusal, which may concern that one too, and later the first one of any tab that is
   * not the last one.
   */
  async #askForToken(isRenewed) {
    const given = this.#token;
    this.#token = undefined;
    if (given !== undefined && !isRenewed) return given;
    let failure, old;
    for (const tab of this.#tabs.values()) {
      // The tab may have left while others were asked.
      if (!this.#tabs.has(tab.id)) continue;
      const answer = await new Promise((resolve) => {
        tab.answer = resolve;
        this.#tell(tab, { t: "token" });
        sleep(5000, this.#stopping.signal).then(resolve);
      });
      failure ??= answer ? answer.failure : "No page gave one.";
      if (answer && !answer.failure && (old = answer.token) !== this.requests.former) return old;
    }
    if (failure) throw failure;
    return old;
  }

  // MARK: Stream

  async #run() {
    await this.#gather();
    while (!this.#isStopped) {
      if (!this.#isNeeded) {
        if (!this.#isRefused) this.#become({ state: "idle" });
        await new Promise((resolve) => { this.#waiting = resolve; });
        this.#waiting = null;
        await collected();
        if (this.#isNeeded) this.#become({ state: "connecting" });
        continue;
      }
      let error;
      try {
        await this.#once();
      } catch (caught) {
        error = caught instanceof GatewayError ? caught : new GatewayError(0, { title: `${caught}` });
      }
      if (!this.#isStopped) await this.#pause(error);
    }
  }

  /** Whether a tab needs something that was not refused. */
  get #isNeeded() { return !this.#isRefused && this.#select((entry) => entry.isNeeded).length; }

  /** A refusal of everything holds for later subscriptions too, until a tab joins or a user demands another attempt. */
  get #isRefused() { return this.#conn.state === "refused"; }

  /** Waits for the tabs that were served by the former hub. */
  async #gather() {
    await new Promise((resolve) => {
      let expected;
      this.#gathering = () => { if (expected?.every((id) => this.#tabs.has(id))) resolve(); };
      setTimeout(resolve, 400);
      this.#ask();
      if (this.scope.startsWith("page:")) return setTimeout(resolve);
      locks.query().then(({ held }) => {
        // The lock of a tab has the scope and the id of the tab for a name.
        expected = held.flatMap(({ name }) => name.split(`${this.scope}:`)[1] ?? []);
        this.#gathering?.();
      });
    });
    this.#gathering = null;
    for (const tab of this.#tabs.values()) {
      this.#tell(tab, { t: "welcome", stream: this.#stream, conn: this.#conn });
      // Its rows may be those of a part of a snapshot, while another tab has the whole.
      for (const key of tab.keys) {
        const entry = this.#entries.get(key);
        if (entry?.source) this.#tell(tab, { t: "check", key, at: entry.skip });
      }
    }
  }

  /** Bytes may be this many milliseconds apart, within bounds. */
  #expect(time) { this.#silence = Math.min(10 * silence, Math.max(silence, time)); }

  /** Opens the stream, and reads it to its end. */
  async #once() {
    if (!this.#stream && !(await this.#create())) return;
    const reading = this.#reading = new AbortController();
    const headers = { Accept: "text/event-stream", ...this.#last && { "Last-Event-ID": this.#last } };
    let beat = Date.now(), start = 0, closing = null;
    const watch = setInterval(() => {
      const quiet = Date.now() - beat;
      // The clock was set back.
      beat += Math.min(0, quiet);
      if (quiet > this.#silence) {
        // The heartbeats may be rarer than that.
        if (this.#isOpen) this.#expect(2 * this.#silence);
        reading.abort();
      // Again and again: tabs that are told nothing have a hub that is blocked, as by a dialog of its page.
      } else if (this.#isOpen) this.#become({ ...this.#conn, isSilent: +(2 * quiet > this.#silence) });
    }, 1000);
    let healthy = 0;
    try {
      const response = await this.requests.send("GET", `/v1/streams/${this.#stream}/events`, { headers, signal: reading.signal });
      healthy = setTimeout(() => this.#backoff.healthy(), health);
      await read(response.body, async (events) => {
        const quiet = Date.now() - beat;
        beat += quiet;
        if (this.#conn.isSilent) this.#become({ ...this.#conn, isSilent: 0 });
        for (const { event: name, id = "", data, retry } of events) {
          // Many events become several messages, so that no task of a page is long.
          if (Date.now() - start > slice) {
            this.#flushTabs();
            await turn();
            if (reading.signal.aborted) return;
            start = Date.now();
          }
          if (retry) this.#backoff.retry = +retry;
          if (name === "closing") closing = JSON.parse(data).reason;
          else if (name) this.#event(name, id, data);
          // After a longer time, the machine has slept.
          else if (quiet <= this.#silence) this.#expect(4 * quiet);
        }
        this.#flushTabs();
      }).catch(() => {});
    } catch (error) {
      // The stream is gone, or the rights to one of its sources: another one tells which.
      if (error.isFinal && error.status !== 401) this.#forget();
      if (error.problem.code === "unknown-stream" && !this.#wasUnknown) {
        this.#wasUnknown = true;
        return;
      }
      throw error;
    } finally {
      clearInterval(watch);
      clearTimeout(healthy);
      this.#isOpen = false;
      this.#reading = null;
    }
    if (closing === "deleted") this.#forget();
    // The gateway ends it again whenever it is opened, with a long delay. What else is needed has another stream, without that delay.
    if (closing === "refused") this.#discard();
    if (closing === "token-expired") {
      this.requests.renew();
      // At once, unless the stream had no time to be healthy.
      if (!this.#backoff.attempts++) return;
    }
    const title = closing ? `The gateway closed the stream: ${closing}.` : "The stream ended.";
    if (lasting.includes(closing)) throw new GatewayError(403, { code: closing, title });
    if (reading.signal.reason !== true && this.#isNeeded) throw Object.assign(new GatewayError(0, { title }), { closing });
  }

  #forget() {
    this.#stream = null;
    for (const entry of this.#sources.values()) if (!this.#isWhole(entry)) entry.source = null;
  }

  #isWhole(entry) { return entry.source !== null && entry.since !== this.#last; }

  async #pause(error) {
    if (!error || !this.#tabs.size) return;
    if (error.status === 401 || lasting.includes(error.problem.code)) return this.#refuseAll(error);
    if (error.status === 409 && this.#backoff.attempts < 20) {
      // The gateway has not noticed yet that the former reader is gone. If it does not, another stream continues this one.
      if (++this.#backoff.attempts < 20) return sleep(100, this.#stopping.signal);
      await this.requests.send("DELETE", `/v1/streams/${this.#stream}`).catch(() => {});
      return this.#forget();
    }
    const delay = this.#backoff.delay(error);
    this.#become({
      state: "reconnecting", attempt: this.#backoff.attempts, nextAt: Date.now() + delay, reason: error.message, ...error.closing === undefined && { problem: error.problem },
    });
    this.#wake = new AbortController();
    this.#wake.isPolite = error.after || error.status === 503 || error.closing;
    await sleep(delay, this.#wake.signal);
    this.#wake = null;
  }

  /** Ends the wait for the next attempt: the network is back, unless the gateway asked to wait; or a user demands it. */
  #retryNow(isForced) {
    if (isForced) {
      for (const entry of this.#entries.values()) this.#clear(entry);
      // The open stream has the rights of the token or cookie that has opened it. For this reason, it is opened again at once.
      if (this.#isOpen) this.#reading.abort(true);
      // No token was refused: the last one may still be the one to use.
      this.requests.former = this.requests.renew();
      if (this.#isRefused) this.#become({ state: "connecting" });
      this.#due?.abort();
    }
    if (isForced || !this.#wake?.isPolite) this.#wake?.abort();
    this.#flushSoon();
    this.#waiting?.();
  }

  #refuseAll(error) {
    this.#forget();
    this.#backoff.attempts = 0;
    for (const entry of this.#entries.values()) this.#refuse(entry, error.problem, "problem");
    this.#become({ state: "refused", reason: error.message, problem: error.problem });
  }

  /** Prepares a stream. Subscriptions whose rows would not continue after the last event are added once it is open. */
  async #create() {
    let entries = this.#select((entry) => entry.isNeeded);
    const whole = entries.filter((entry) => this.#isWhole(entry));
    if (this.#last && whole.length) entries = whole;
    else this.#last = "";
    this.#unmap();
    this.#known = new Set();
    await this.#offer(entries);
    return this.#stream !== null;
  }

  #patch(body) {
    return this.requests.json("PATCH", `/v1/streams/${this.#stream}`, { body, signal: this.#limit });
  }

  /** Ends a request with this hub, or after a silence: a connection that died during a sleep may give no sign. */
  get #limit() {
    const { signal } = this.#stopping;
    return AbortSignal.any?.([signal, AbortSignal.timeout(silence)]) ?? signal;
  }

  /** Adds entries to the stream, or to one that it makes: the states of the sources that the stream did not have. */
  async #extend(entries) {
    const sources = entries.map(sourceOf);
    let answer;
    if (this.#stream) answer = await this.#patch({ add: sources });
    else this.#stream = (answer = await this.requests.json("POST", "/v1/streams", { body: { sources }, signal: this.#limit })).id;
    return answer.sources.filter(({ subscription }) => !this.#known.has(subscription) && this.#known.add(subscription));
  }

  /** Sends entries in one request; if it is refused, without those that it names, or in halves. Ends with the present stream. */
  async #offer(entries, reading = this.#reading) {
    if (!entries.length || reading !== this.#reading) return;
    try {
      const states = await this.#extend(entries), areAll = states.length === entries.length;
      for (const entry of entries) {
        const state = areAll ? states.shift() : await this.#identify(entry);
        // The events before the end may be a part of the snapshot, and the next stream may not have the source.
        if (reading !== this.#reading) return;
        this.#map(entry, state);
      }
    } catch (error) {
      const { isFinal, status, problem } = error, code = problem?.code;
      // A refusal without a code is one of a proxy, and may pass, unless the request is too large for the proxy.
      const isTheirs = isFinal && status !== 401 && (code ? code !== "unknown-stream" : status === 413);
      if (!isTheirs && code !== "over-quota") throw error;
      const named = new Map();
      for (const { pointer, detail } of problem.errors ?? []) {
        const entry = entries[pointer?.match(/^\/\w+\/(\d+)/)?.[1]];
        if (entry && !named.has(entry)) named.set(entry, { ...problem, detail });
      }
      if (entries.length === 1) named.set(entries[0], problem);
      for (const [entry, refusal] of named) this.#refuse(entry, refusal, "problem");
      const rest = entries.filter((entry) => !named.has(entry));
      // `slice` rounds it down.
      const half = named.size ? rest.length : rest.length / 2;
      await this.#offer(rest.slice(0, half), reading);
      await this.#offer(rest.slice(half), reading);
    }
  }

  /** The source of an entry that equals another one in all but its text: a stream of its own tells it. */
  async #identify(entry) {
    const probe = await this.requests.json("POST", "/v1/streams", { body: { sources: [sourceOf(entry)] } });
    this.requests.send("DELETE", `/v1/streams/${probe.id}`).catch(() => {});
    return probe.sources[0];
  }

  #map(entry, state) {
    const other = this.#sources.get(state.subscription);
    if (other && other !== entry) {
      for (const key of entry.keys) {
        this.#entries.set(key, other);
        other.keys.add(key);
        for (const tab of entry.tabs) if (tab.keys.has(key)) this.#sync(tab, key, other);
      }
      for (const tab of entry.tabs) other.tabs.add(tab);
      return;
    }
    entry.source = state.subscription;
    this.#sources.set(state.subscription, entry);
    this.#inform(entry, { ...state, ...this.#states.get(state.subscription), ...this.#clients.get(state.client) });
    this.#tellInfos();
    // Before the stream is open, it tells whether the rows so far still hold.
    if (!this.#isOpen) return;
    this.#begin(entry);
    for (const [source, ...event] of this.#early) {
      if (source !== entry.source) continue;
      entry.since = null;
      this.#deliver(entry, ...event);
    }
    this.#flushTabs();
  }

  /** The rows so far are void; the present state follows. */
  #begin(entry) {
    entry.since = this.#last;
    this.#deliver(entry, "reset", "", JSON.stringify({ subscription: entry.source }));
  }

  // MARK: Events

  #event(name, id, text) {
    if (id) this.#last = id;
    const data = JSON.parse(text);
    if (name === "stream") return this.#told(data);
    if (name === "update") this.#backoff.healthy();
    if (data.subscription === undefined) return this.#ofClient(name, id, text, data);
    const entry = this.#sources.get(data.subscription);
    if (entry) return this.#deliver(entry, name, id, text, data);
    this.#early?.push([data.subscription, name, id, text]);
  }

  #deliver(entry, name, id, text, data = JSON.parse(text)) {
    // Resumed at an earlier event, a conflated one may have updates behind its id, or lack some that follow.
    if (data.conflated || isAfter(id, entry.skip)) {
      if (id || name === "reset") entry.skip = "";
      entry.table.apply(name, data);
      if (name !== "update") this.#note(entry, name, data);
    }
    const event = `["${name}","${id}",${text}]`;
    for (const tab of entry.tabs) tab.batch.push(event);
  }

  #note(entry, name, data) {
    if (name === "subscribed") {
      // The client is connected, also if only other streams had its status.
      this.#inform(entry, {
        lastFailure: undefined, ...data, subscribed: true, active: true, lastError: null, status: "CONNECTED", ...this.#clients.get(data.client),
      });
    } else if (name === "unsubscribed") this.#inform(entry, { subscribed: false, active: data.active ?? entry.info.active });
    else if (name === "real-max-frequency") this.#inform(entry, { realMaxFrequency: data.value });
    else if (name === "subscription-error") this.#refuse(entry, data, "subscription");
  }

  #ofClient(name, id, text, data) {
    if (name === "status") this.#clients.set(data.client, statusOf(data));
    const tabs = new Set();
    for (const entry of this.#sources.values()) {
      if (entry.info.client !== data.client) continue;
      for (const tab of entry.tabs) tabs.add(tab);
      if (name === "server-error") this.#refuse(entry, data, "session");
      else if (name === "status") this.#inform(entry, statusOf(data));
    }
    for (const tab of tabs) tab.batch.push(`["${name}","${id}",${text}]`);
  }

  #told({ stream, sources, resume }) {
    const isFirst = !this.#isOpen, former = this.#states, isNew = resume !== "resumed";
    this.#stream = stream;
    this.#states = new Map(sources.map((state) => [state.subscription, state]));
    this.#stray.clear();
    // These events precede a removal of their sources, or another epoch.
    this.#early &&= [];
    if (isFirst) this.#clients.clear();
    if (isNew) this.#last = "";
    for (const state of sources) {
      if (state.status) this.#clients.set(state.client, statusOf(state));
      const source = state.subscription, entry = this.#sources.get(source);
      if (entry) {
        this.#inform(entry, { lastFailure: undefined, ...state });
        // Where the answer to an addition came first, events of the same source before its removal may have followed.
        if (isNew || !(isFirst || former.has(source))) this.#begin(entry);
        if (isNew || !isFirst || this.#isWhole(entry)) continue;
        // Its snapshot did not arrive: the source is removed and added again.
        entry.source = null;
        this.#sources.delete(source);
      }
      this.#stray.add(source);
    }
    // In the middle of a stream, the event of a change; or that of a new epoch, which ends the state of all sources.
    if (!(isFirst || isNew)) return;
    this.#isOpen = true;
    this.#wasUnknown = false;
    for (const [source, entry] of this.#sources) {
      if (this.#states.has(source)) continue;
      entry.source = null;
      this.#sources.delete(source);
    }
    this.#become({ state: "open", resume, sources: sources.length, isSilent: 0 });
    this.#flushSoon();
  }

  #inform(entry, facts) {
    entry.info = { ...entry.info, ...facts, source: entry.source };
    fit(entry, facts.mode);
    if (facts.subscribed || (entry.isNeeded && isLive(facts.status))) entry.info.problem = undefined;
    this.#dirty.add(entry);
    if (facts.lastError && facts.active === false) this.#refuse(entry, facts.lastError, "subscription");
  }

  /** A final refusal, with cause and cure where the gateway's list of codes has them. */
  async #refuse(entry, refusal, kind) {
    const problem = { title: refusal.message, ...refusal }, code = refusal.code;
    entry.info = { ...entry.info, problem };
    entry.kind = kind;
    this.#dirty.add(entry);
    if (kind === "problem") this.#tellInfos();
    // There may be room again. Replicas find the lack of it after the response.
    if (code === "over-quota" || code === 1001) entry.timer ||= setTimeout(() => {
      entry.timer = 0;
      this.#clear(entry);
      this.#flushSoon();
      this.#waiting?.();
    }, longest * (1 + Math.random()));
    this.#codes ??= fetch(`${this.requests.url}/assets/codes.json`).then((response) => response.json()).catch(() => ({}));
    const codes = await this.#codes;
    // The codes of the list are texts.
    const known = [codes[kind], codes.closing].flat().find((candidate) => candidate?.code == (code <= 0 ? 0 : code));
    if (!known || entry.info.problem !== problem) return;
    entry.info = { ...entry.info, problem: { ...known, ...problem } };
    this.#dirty.add(entry);
    this.#tellInfos();
  }

  #tellInfos() {
    for (const entry of this.#dirty) {
      for (const tab of entry.tabs) {
        for (const key of entry.keys) if (tab.keys.has(key)) this.#tell(tab, { t: "info", key, info: entry.info });
      }
    }
    this.#dirty.clear();
  }

  #flushTabs() {
    this.#tellInfos();
    const now = performance.now();
    for (const tab of this.#tabs.values()) {
      const due = tab.at + tab.pace - now;
      if (tab.batch.length && due > 0) tab.timer ||= setTimeout(() => { tab.timer = 0; this.#flush(tab); }, due);
      else if (tab.batch.length || now - tab.at > 1000) this.#flush(tab);
    }
  }

  #flush(tab) {
    if (tab.last === this.#last && !tab.batch.length) return;
    tab.at = performance.now();
    tab.last = this.#last;
    this.#tell(tab, { t: "events", last: this.#last, text: `[${tab.batch.join(",")}]` });
    tab.batch = [];
  }

  // MARK: Changes of the open stream

  async #flushSoon(wait) {
    if (this.#due) return;
    this.#due = new AbortController();
    if (wait) await sleep(wait, this.#due.signal);
    await collected();
    this.#due = null;
    if (this.#isFlushing || this.#isStopped) return;
    // While there is no stream to change, and none is being opened.
    if (!this.#isOpen) return this.#waiting && this.#release(this.#idle());
    this.#isFlushing = true;
    let pause;
    try {
      await this.#change();
      this.#changes.healthy();
    } catch (error) {
      if (error.problem?.code === "unknown-stream") this.#reading?.abort();
      else if (error.status === 401) {
        this.#refuseAll(error);
        this.#reading?.abort();
      // Without the status: the pause after 503 is that of a gateway that can open no stream.
      } else pause = this.#changes.delay({ after: error.after });
    }
    this.#isFlushing = false;
    if (this.#isOpen && (pause || this.#stray.size || this.#idle().length || this.#missing().length)) this.#flushSoon(pause);
  }

  #select(test) { return [...new Set(this.#entries.values())].filter(test); }

  #idle() { return this.#select((entry) => !entry.tabs.size && entry.idleAt + linger <= performance.now()); }

  #release(idle) { for (const { keys } of idle) for (const key of keys) this.#entries.delete(key); }

  #missing() {
    return this.#select((entry) => entry.isNeeded && !entry.source);
  }

  /** Removes what no tab needs, then adds what is missing: the same source in one request would be no change. */
  async #change() {
    const idle = this.#idle();
    this.#release(idle);
    for (const { source } of idle) if (this.#sources.delete(source)) this.#stray.add(source);
    if (idle.length && !this.#entries.size) return this.#discard();
    const gone = [...this.#stray];
    if (gone.length) {
      await this.#patch({ remove: gone.map((subscription) => ({ subscription })) });
      for (const source of gone) this.#stray.delete(source);
    }
    this.#known = new Set([...this.#states.keys(), ...this.#sources.keys()]);
    this.#early = [];
    try {
      await this.#offer(this.#missing());
    } finally {
      this.#early = null;
      for (const source of this.#sources.keys()) this.#stray.delete(source);
    }
  }
}
