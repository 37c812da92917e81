// One subscription of this page: its rows, its history and its progress.

import { isNumeric } from "/assets/dom.js";
import { explain } from "/assets/codes.js";

const stateEventNames = ["subscribed", "unsubscribed", "subscription-error"];
const listLimit = 200;
const historyLimit = 3000; // values of a field of a row
const leastHistory = 100;
const historyBudget = 500_000; // values of all rows together
const clockStep = 1000; // ms by which the clock was set back at least, if a value is so much older than the one before

/** The values of a numeric field over time. */
export class Series {
  times = [];
  values = [];
  /** The most decimals that a value had. */
  decimals = 0;

  /** Takes the text of a number; at least `most` values are kept, and little more. */
  push(time, text, most) {
    // The chart ends at the present: what is later by the clock that was set back would hide all new values.
    if (time < this.times.at(-1) - clockStep) this.times.length = this.values.length = 0;
    this.times.push(time);
    this.values.push(Number(text));
    this.decimals = Math.max(this.decimals, text.trim().split(".")[1]?.length ?? 0);
    const spare = this.times.length - most;
    if (spare > most / 5) {
      this.times.splice(0, spare);
      this.values.splice(0, spare);
    }
  }
}

/** A line of a table: an item, a key of an item (COMMAND) or a single event (DISTINCT, RAW). */
export class Row {
  // Without the members of objects: a field may have the name of one.
  values = Object.create(null);
  direction = Object.create(null);
  history = new Map();
  at = Date.now();
  /** Whether `at` is the time of an update. A snapshot has values that are older by an unknown time. */
  isKnown = false;
  removed = false;
  isDrawn = false;
  /** Whether the row is from before a reconnection and was not sent again since. */
  isOld = false;

  constructor(id, item, name) {
    this.id = id;
    this.item = item;
    this.name = name;
  }

  /** Takes new values and returns the names of those that differ; of each number, `most` values are kept. */
  take(fields, most = historyLimit, isSnapshot = false) {
    const now = Date.now();
    const names = [];
    for (const [name, value] of Object.entries(fields)) {
      const before = this.values[name];
      if (before === value) continue;
      this.values[name] = value;
      names.push(name);
      this.direction[name] = isNumeric(value) && isNumeric(before) ? Math.sign(Number(value) - Number(before)) : 0;
      if (!isNumeric(value)) continue;
      let series = this.history.get(name);
      if (!series) this.history.set(name, series = new Series());
      series.push(now, value, most);
    }
    if (!isSnapshot || names.length) [this.at, this.isKnown] = [now, !isSnapshot];
    return names;
  }
}

/** Dispatches `change` when something other than values changed, and `values` when values did. */
export class Feed extends EventTarget {
  subscription = null;
  client = null;
  /** Whether no attempt to connect has succeeded yet, and one has failed. */
  isUnreachable = false;
  /** Why there is no connection; null if that is not known. */
  failure = null;
  isSubscribed = false;
  hasValue = false;
  /** Whether an update has followed the snapshot. */
  hasUpdate = false;
  error = null;
  updates = 0;
  /** Counts the events that changed the state, so that a state that was read before them is not shown. */
  stateEvents = 0;
  lastValueAt = null;
  rows = new Map();
  /** Changes that no view has drawn yet: row → names of fields, null for a row that is new or gone. */
  dirty = new Map();
  #items = new Map();
  #labels = null;
  #serial = 0;
  #status = null;
  #wasConnected = false;
  /** Whether the last subscription ended with its session in place. */
  #wasRemoved = false;

  constructor(key, title, spec, options = {}) {
    super();
    this.key = key;
    this.title = title;
    this.spec = spec;
    this.options = options;
    this.columns = this.#specColumns();
  }

  get status() { return this.#status; }

  set status(status) {
    this.#status = status;
    this.#wasConnected ||= this.isConnected;
    if (status === "DISCONNECTED:WILL-RETRY") this.isUnreachable = !this.#wasConnected;
    else if (status !== "CONNECTING") this.isUnreachable = false;
  }

  get mode() { return this.spec.mode; }
  get isList() { return this.mode === "DISTINCT" || this.mode === "RAW"; }
  get isConnected() { return this.status?.startsWith("CONNECTED:") ?? false; }
  get isWithoutSession() { return this.status === null || this.status === "DISCONNECTED"; }

  #specColumns() {
    const first = this.spec.fields ?? [];
    const second = this.spec.commandSecondLevelFields ?? [];
    const hidden = this.mode === "COMMAND" ? ["key", "command"] : [];
    return [...new Set([...first, ...second])].filter((name) => !hidden.includes(name));
  }

  // MARK: - State

  #changed() { this.dispatchEvent(new Event("change")); }

  /** Shows that the gateway refused the subscription before the request reached the upstream. */
  refuse(error) {
    // If the message names the refused values, the general cure adds nothing.
    const cure = error.problem?.errors?.length ? undefined : explain("problem", error.code)?.cure;
    this.error = { step: "gateway", text: error.message, cure, code: error.code, kind: "problem" };
    this.isSubscribed = false;
    this.#changed();
  }

  /** Takes the state of the resource when it was joined. */
  joined(view) {
    if (!view) return;
    this.client = view.client ?? this.client;
    this.isSubscribed = view.subscribed;
    if (view.active) this.error = null;
    if (view.lastError && !view.active) this.#refused(view.lastError);
    this.#changed();
  }

  sourceState(state, resume) {
    if (resume !== "resumed") this.#expectSnapshot();
    this.isSubscribed = state.subscribed;
    // A stream that joins a subscription does not receive its event `subscribed`.
    if (state.fieldKeys) this.#readLabels(state);
    if (state.client) this.client = state.client;
    // The gateway has accepted it by now.
    if (this.error?.step === "gateway") this.error = null;
    if (state.status) this.status = state.status;
    this.failure = state.lastFailure?.detail ?? null;
    if (state.lastError && !state.active) this.#refused(state.lastError);
    this.#changed();
  }

  clientStatus(status, serverError, failure) {
    this.status = status;
    this.failure = failure?.detail ?? null;
    if (status === "DISCONNECTED" && serverError) this.#serverError(serverError);
    this.#changed();
  }

  clientEvent(name, data) {
    if (data.client !== this.client) return;
    this.stateEvents += 1;
    if (name === "server-error") this.#serverError(data);
    if (name !== "status") return;
    if (data.status.startsWith("CONNECTED:") && this.error?.step === "upstream") this.error = null;
    this.status = data.status;
    this.failure = data.lastFailure?.detail ?? null;
    this.#changed();
  }

  #serverError({ code, message }) {
    const entry = explain("session", code);
    const meaning = entry?.meaning ?? "The server refused the session.";
    this.error = { step: "upstream", text: meaning, server: message, cure: entry?.cure, code, kind: "session" };
    this.#changed();
  }

  #refused({ code, message }) {
    const entry = explain("subscription", code);
    const meaning = entry?.meaning ?? "The server refused the subscription.";
    this.error = {
      step: "subscribed", text: meaning, server: message, cure: entry?.cure, code, kind: "subscription",
      // The gateway's own words for a removal, whose error comes before `unsubscribed`.
      isRemoval: this.#wasRemoved || (code === 61 && message === "Removed by the server"),
    };
    this.isSubscribed = false;
  }

  // MARK: - Events

  apply(name, data) {
    if (data.client) this.client = data.client;
    if (stateEventNames.includes(name)) this.stateEvents += 1;
    switch (name) {
    case "update": return this.#update(data);
    case "subscribed":
      this.isSubscribed = true;
      this.error = null;
      this.#readLabels(data);
      this.#expectSnapshot();
      break;
    case "end-of-snapshot": this.#endSnapshot(data.item ?? String(data.itemPos)); break;
    case "unsubscribed":
      this.isSubscribed = false;
      this.#wasRemoved = this.isConnected;
      break;
    case "subscription-error":
      this.#wasRemoved = false;
      this.#refused(data);
      break;
    case "clear-snapshot": this.#clearItem(data.item ?? String(data.itemPos)); break;
    case "lost-updates":
      // An event that only this stream lacks may have changed any field: the next one has all of them.
      if (data.by === "gateway") this.#items.delete(data.item ?? String(data.itemPos));
      break;
    }
    this.#changed();
  }

  #readLabels({ fieldKeys, fieldCount }) { this.#labels = fieldKeys === "position" ? this.#positions(fieldCount) : null; }

  /** The names of positions, for events that have positions instead of names. */
  #positions(firstLevel) {
    const labels = {};
    this.spec.fields?.forEach((name, index) => { labels[index + 1] = name; });
    this.spec.commandSecondLevelFields?.forEach((name, index) => {
      labels[firstLevel + index + 1] = this.spec.fields?.includes(name) ? `${name} (2)` : name;
    });
    return labels;
  }

  #named(typed) {
    // Values of a feed have types; this page shows all values as texts.
    const fields = Object.fromEntries(Object.entries(typed).map(([name, value]) =>
      [name, typeof value === "object" && value !== null ? JSON.stringify(value) : value === null || value === undefined ? value : String(value)]));
    if (!this.#labels) return fields;
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [this.#labels[name] ?? name, value]));
  }

  #update(data) {
    this.updates += 1;
    this.lastValueAt = Date.now();
    this.hasUpdate ||= !data.snapshot;
    const item = data.item ?? String(data.itemPos);
    const fields = this.#named(data.fields);
    if (this.isList) this.#append(item, fields);
    else if (this.mode === "COMMAND") this.#command(item, data, fields);
    else this.#merge(item, item, item, fields, data.snapshot);
    if (!this.hasValue) {
      this.hasValue = true;
      this.#changed();
    }
    this.dispatchEvent(new Event("values"));
  }

  #merge(id, item, name, fields, isSnapshot) {
    let row = this.rows.get(id);
    if (!row) {
      row = new Row(id, item, name);
      this.rows.set(id, row);
      this.dirty.set(row, null);
    }
    const share = Math.floor(historyBudget / (this.rows.size * Math.max(1, this.columns.length)));
    const names = row.take(fields, Math.max(leastHistory, Math.min(historyLimit, share)), isSnapshot);
    if (row.isOld) {
      row.isOld = false;
      this.dirty.set(row, new Set(names));
    }
    this.#columns(fields);
    if (this.dirty.get(row) === null) return;
    const pending = this.dirty.get(row) ?? new Set();
    for (const field of names) pending.add(field);
    this.dirty.set(row, pending);
  }

  #command(item, data, fields) {
    const id = `${item}\u0000${data.key}`;
    if (data.command === "DELETE") {
      const row = this.rows.get(id);
      if (row) this.#forget(row);
      return;
    }
    const { key, command, ...rest } = fields;
    this.#merge(id, item, data.key ?? "", rest, data.snapshot);
  }

  /** Adds an event of a list; fields that it omits have the values of the previous event. */
  #append(item, fields) {
    const present = { ...this.#items.get(item), ...fields };
    this.#items.set(item, present);
    this.#serial += 1;
    const row = new Row(String(this.#serial), item, item);
    row.take(present);
    this.rows.set(row.id, row);
    this.dirty.set(row, null);
    this.#columns(fields);
    if (this.rows.size > listLimit) this.#forget(this.rows.values().next().value);
  }

  #columns(fields) {
    const unseen = Object.keys(fields).filter((name) => !this.columns.includes(name));
    if (unseen.length === 0) return;
    this.columns = [...this.columns, ...unseen];
    this.dispatchEvent(new Event("columns"));
  }

  #forget(row) {
    row.removed = true;
    this.rows.delete(row.id);
    // A removed row that no view has drawn leaves no entry, so that `dirty` does not grow while the view is hidden.
    if (row.isDrawn) this.dirty.set(row, null);
    else this.dirty.delete(row);
  }

  #clearItem(item) {
    // The next event may still omit what it has in common with the last one: `#items` stays.
    for (const row of [...this.rows.values()]) if (row.item === item) this.#forget(row);
    this.dispatchEvent(new Event("values"));
  }

  // MARK: - Snapshots

  /** A snapshot follows: except in DISTINCT mode, the shown rows stay, with their history, until it arrives. */
  #expectSnapshot() {
    this.hasValue = this.hasUpdate = false;
    if (this.mode === "DISTINCT") for (const row of [...this.rows.values()]) this.#forget(row);
    this.#items.clear();
    for (const row of this.rows.values()) {
      row.isOld = this.mode !== "RAW";
      if (!this.dirty.has(row)) this.dirty.set(row, new Set());
    }
    this.dispatchEvent(new Event("values"));
  }

  /** Removes the keys that the snapshot did not contain. */
  #endSnapshot(item) {
    if (this.mode !== "COMMAND") return;
    for (const row of [...this.rows.values()]) if (row.isOld && row.item === item) this.#forget(row);
    this.dispatchEvent(new Event("values"));
  }
}
