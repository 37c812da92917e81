// The subscriptions of a tab.

import { List, fit } from "./tables.js";

/** One subscription of a tab, for all its handles with equal properties. */
export class Sub {
  handles = new Set();
  info = {};
  /** Events up to this id are in the table. */
  skip = "";
  since = null;

  constructor(key, spec) {
    this.key = key;
    this.spec = spec;
    fit(this, spec.mode);
  }

  /** Calls `run` for each handle, but not for one that a callback has closed or changed meanwhile. */
  each(run) { for (const handle of [...this.handles]) if (this.handles.has(handle)) run(handle); }
}

/** What `subscribe` returns. */
export class Handle {
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
    if (name === "reset") this.#call("reset");
    else if (name !== "update") this.#call("event", name, data);
    else {
      this.#call("update", data);
      for (const reader of this.#readers) {
        reader.queue.push(data);
        if (reader.queue.length > (this.on.bound ?? 10_000)) reader.queue.splice(0, 2, { ...reader.queue[1], lost: true });
        reader.wake?.();
      }
    }
  }

  told(info) { this.#call("info", info); }

  /** A list of its own, where the table is one. */
  fit() { this.list = this.sub.table instanceof List ? new List(this.on.bound) : null; }

  changed(isNew) {
    if (isNew) this.#call("snapshot", this.table);
    this.#call("change", this.table);
  }

  become(state) {
    const text = JSON.stringify(state);
    if (text === this.toldState) return;
    this.toldState = text;
    this.state = state;
    this.#call("state", state);
  }

  #call(name, ...values) {
    if (this.isClosed && name !== "state") return;
    try {
      this.on[name]?.(...values);
    } catch (error) {
      reportError(error);
    }
  }

  /** The updates from now on, snapshots included. Of a reader that is too slow the oldest ones are dropped. */
  async * [Symbol.asyncIterator]() {
    // The rows that a handle is told when it joins are no updates.
    await 0;
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
