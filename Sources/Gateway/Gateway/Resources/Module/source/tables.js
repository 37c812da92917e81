// The tables of a subscription, and the order of events.

export const listBound = 1000; // rows that the module keeps of a list

const place = ({ item, itemPos }) => item ?? String(itemPos);

/** Whether an event id lies behind a mark; no id, and ids of another epoch do. */
export function isAfter(id, mark) {
  if (!id || !mark) return true;
  const [epoch, number] = id.split("-"), [markEpoch, markNumber] = mark.split("-");
  return epoch !== markEpoch || number.length > markNumber.length
    || (number.length === markNumber.length && number > markNumber);
}

/** What all tables have: they take the events of a subscription, and tell their rows as the events of a snapshot. */
class Table {
  /** The events that ended snapshots, by item. */
  ended = new Map();

  /**
   * Applies an event of a stream. After `reset`, `subscribed` and the end of the subscription the rows so far are void; while the
   * upstream is away they stay, and are stale.
   */
  apply(name, data) {
    if (name === "update") this.update(data);
    else if (name === "clear-snapshot") this.clear(place(data));
    else if (name === "end-of-snapshot") this.ended.set(place(data), data);
    else if (name === "subscribed" || name === "reset" || (name === "unsubscribed" && data.active === false)) {
      this.clear();
      this.ended.clear();
    }
    // Only `lost-updates` has this member.
    else if (data.by === "gateway") this.lost?.(place(data));
  }
}

/** MERGE: `rows` has the fields of each item. A row is replaced, never changed. */
export class MergeTable extends Table {
  rows = new Map();
  #positions = new Map();

  update(data) {
    const id = place(data);
    if (!this.rows.has(id)) this.#positions.set(id, { item: data.item, itemPos: data.itemPos });
    this.rows.set(id, { ...this.rows.get(id), ...data.fields });
  }

  clear(id) { if (id === undefined) this.rows.clear(); else this.rows.delete(id); }

  * snapshot() {
    for (const [id, fields] of this.rows) yield { ...this.#positions.get(id), snapshot: true, fields };
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
      this.#positions.set(id, { item: data.item, itemPos: data.itemPos });
    }
    if (data.command === "DELETE") rows.delete(data.key);
    else rows.set(data.key, { ...rows.get(data.key), ...data.fields });
  }

  clear(id) { if (id === undefined) this.items.clear(); else this.items.delete(id); }

  * snapshot() {
    for (const [id, rows] of this.items) {
      for (const [key, fields] of rows) yield { ...this.#positions.get(id), snapshot: true, key, command: "ADD", fields };
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
    const id = place(data), { item, itemPos, snapshot } = data;
    const row = { item, itemPos, snapshot, fields: data.values ?? { ...this.#previous.get(id)?.fields, ...data.fields } };
    this.#previous.set(id, row);
    this.rows.push(row);
    if (this.rows.length > this.bound) this.rows.shift();
  }

  /**
   * An event that only this stream lacks may have changed any field: those that the next one omits are not known. After a loss on the
   * server, the next event is relative to the last one that the gateway has, and so has this list.
   */
  lost(id) { this.#previous.delete(id); }

  /** After `clear-snapshot`, the next event of an item may still omit what it has in common with the last one before. */
  clear(id) {
    const last = this.#previous.get(id);
    if (id === undefined) this.#previous.clear();
    else if (last) this.#previous.set(id, { ...last, isCleared: true });
    this.rows = this.rows.filter((row) => id !== undefined && place(row) !== id);
  }

  /** The newest events, after the last event of each item that has none among them: the next one may omit what did not change. */
  * snapshot() {
    const former = [...this.#previous.values()].filter((row) => !row.isCleared && !this.rows.includes(row));
    for (const row of [...former, ...this.rows]) yield { ...row, snapshot: true, values: row.fields };
  }
}

/** The table for a mode. */
export function tableOf(mode, bound) {
  if (mode === "COMMAND") return new CommandTable();
  return mode === "DISTINCT" || mode === "RAW" ? new List(bound) : new MergeTable();
}

/** Gives a subscription the table of the mode that the gateway told, if it did; true if it is another table than before. */
export function fit(one, mode) {
  mode ??= one.mode ?? "MERGE";
  if (one.mode === mode) return false;
  one.mode = mode;
  one.table = tableOf(mode, listBound);
  return true;
}

/** The events that make an empty table, or any other one, equal to this one. */
export const retold = (table, subscription) => [
  ["reset", "", { subscription }], ...[...table.snapshot()].map((data) => ["update", "", { subscription, ...data }]),
  ...[...table.ended.values()].map((data) => ["end-of-snapshot", "", { ...data, subscription }]),
];

const lists = /^items$|fields$/i;

/** The members of a subscription in one order and form, so that equal ones have equal texts. */
export function normal(spec) {
  const result = {};
  for (const name of Object.keys(spec).sort()) {
    const value = spec[name];
    if (value !== undefined && value !== null) {
      result[name] = (lists.test(name) && value.match?.(/[^\s,]+/g)) || value;
    }
  }
  return result;
}
