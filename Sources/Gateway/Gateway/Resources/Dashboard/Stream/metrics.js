// Reads /metrics at intervals and computes rates and quantiles.

import { text } from "/assets/api.js";
import { whileShown } from "/assets/dom.js";

const prefix = "lightstreamer_gateway_";
const interval = 2000;
const windowLength = 60_000;
const linePattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** The samples of the Prometheus text format: name → [{labels, value}]. */
export function parse(exposition) {
  const families = new Map();
  for (const line of exposition.split("\n")) {
    const match = line.startsWith("#") ? null : linePattern.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    const samples = families.get(match[1]) ?? [];
    samples.push({ labels, value: Number(match[3]) });
    families.set(match[1], samples);
  }
  return families;
}

const sum = (samples = []) => samples.reduce((total, { value }) => total + value, 0);

/** A quantile of a histogram between two readings, by linear interpolation in its bucket; null without samples. */
export function quantile(share, newer = [], older = []) {
  const before = new Map(older.map(({ labels, value }) => [labels.le, value]));
  const buckets = newer.map(({ labels, value }) => ({
    bound: labels.le === "+Inf" ? Infinity : Number(labels.le), count: value - (before.get(labels.le) ?? 0),
  })).sort((one, other) => one.bound - other.bound);
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return null;
  const wanted = share * total;
  const index = buckets.findIndex(({ count }) => count >= wanted);
  const lower = index > 0 ? buckets[index - 1] : { bound: 0, count: 0 };
  const { bound, count } = buckets[index];
  if (bound === Infinity) return lower.bound;
  return lower.bound + (bound - lower.bound) * ((wanted - lower.count) / (count - lower.count || 1));
}

/** Dispatches `reading` (its `figures` are new) and `failed` (detail: the error). */
export class Metrics extends EventTarget {
  /** The latest figures; null before the first reading. */
  figures = null;
  /** When the last request was sent, if the gateway did not answer it; otherwise null. */
  silentSince = null;
  #readings = [];

  start() { whileShown(() => this.read(), interval)(true); }

  async read() {
    const start = Date.now();
    try {
      this.#take(parse(await text("/metrics", { patience: 5000 })));
      this.silentSince = null;
    } catch (error) {
      // A refusal is a response as well: only a missing response counts as a failure.
      this.silentSince = error.status ? null : start;
      this.dispatchEvent(new CustomEvent("failed", { detail: error }));
    }
  }

  #take(families) {
    const now = Date.now();
    const family = (name) => families.get(prefix + name);
    const total = (name) => sum(family(name));
    const reading = {
      at: now, delivery: family("event_delivery_seconds_bucket") ?? [], updates: total("upstream_updates_total"),
      delivered: total("events_delivered_total"),
    };
    // A gateway that was restarted counts from zero again, or the clock was set back.
    const last = this.#readings.at(-1);
    if (reading.delivered < last?.delivered || now < last?.at) this.#readings = [];
    this.#readings.push(reading);
    while (this.#readings[0].at < now - windowLength) this.#readings.shift();
    const before = this.#readings.at(-2);
    const rate = (name) => (before ? (reading[name] - before[name]) / Math.max(0.001, (now - before.at) / 1000) : null);
    this.figures = {
      updateRate: rate("updates"), deliveredRate: rate("delivered"),
      p99: quantile(0.99, reading.delivery, this.#readings[0] === reading ? [] : this.#readings[0].delivery),
      streams: total("streams"), conflated: total("events_conflated_total"),
      dropped: total("events_dropped_total"), reconnects: total("upstream_reconnects_total"),
    };
    this.dispatchEvent(new Event("reading"));
  }
}
