// The overview of the gateway: a strip of figures at the top of the page.

import { count, h, setText } from "/assets/dom.js";
import { Sparkline } from "/assets/sparkline.js";

const remembered = 60;

const rate = (value) => (value === null ? "–" : value < 10 ? value.toFixed(1) : count(value));
const milliseconds = (seconds) => {
  if (seconds === null) return "–";
  const value = seconds * 1000;
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
};

const tiles = [
  { name: "updateRate", label: "Updates in", unit: "/s", format: rate, title: "Updates that upstreams send each second" },
  { name: "deliveredRate", label: "Events out", unit: "/s", format: rate, title: "Events written to streams each second" },
  { name: "streams", label: "Streams", unit: "", format: count, title: "Open streams" },
  { name: "p99", label: "Delay p99", unit: "ms", format: milliseconds,
    title: "99 of 100 events of the last minute were written within this time after their publication" },
  { name: "conflated", label: "Conflated", unit: "", format: count, title: "Updates merged into newer ones" },
  { name: "dropped", label: "Dropped", unit: "", format: count, isBad: (value) => value > 0,
    title: "Updates lost from full windows; their streams received lost-updates" },
  { name: "reconnects", label: "Interruptions", unit: "", format: count, isWarning: (value) => value > 0,
    title: "Upstream connections that were lost, and attempts to connect that failed" },
];

export class Overview {
  #tiles = new Map();
  #note = h("p", { class: "note", role: "status", hidden: true });

  constructor(element) {
    const list = h("dl", { class: "tiles" });
    for (const { name, label, unit, title } of tiles) {
      const value = h("span", { class: "figure" }, "–");
      const spark = new Sparkline();
      list.append(h("div", { class: "tile", title, data: { figure: name } },
        h("dt", {}, label), h("dd", {}, value, unit ? h("span", { class: "unit" }, unit) : null), spark.element));
      this.#tiles.set(name, { value, spark, past: [] });
    }
    element.append(list, this.#note);
  }

  show(figures) {
    this.#note.hidden = true;
    for (const { name, format, isBad, isWarning } of tiles) {
      const tile = this.#tiles.get(name);
      const value = figures[name];
      setText(tile.value, format(value));
      tile.value.classList.toggle("bad", isBad?.(value) ?? false);
      tile.value.classList.toggle("warning", isWarning?.(value) ?? false);
      if (value !== null) tile.past.push(value);
      if (tile.past.length > remembered) tile.past.shift();
      tile.spark.draw(tile.past);
    }
  }

  fail(error) {
    this.#note.hidden = false;
    const reason = `Figures are not available: ${error.message}`;
    setText(this.#note, error.status ? reason : "Figures are old: the gateway does not answer.");
  }
}
