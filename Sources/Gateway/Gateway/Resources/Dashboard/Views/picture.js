// One picture of the product: upstream → session → shared subscription → readers, with the figures of this moment.

import { count, h, setText, svg } from "/assets/dom.js";

const boxes = [
  { name: "upstream", x: 0, title: "Upstream", text: "Lightstreamer server" },
  { name: "session", x: 230, title: "Session", text: "one TLCP connection" },
  { name: "shared", x: 460, title: "Shared subscription", text: "one for equal requests" },
  { name: "readers", x: 690, title: "Readers", text: "SSE, NDJSON, REST" },
];
const [width, height, boxWidth, boxHeight] = [860, 190, 170, 78];
const middle = 70;
const top = 18;
const rate = (value) => (value === null ? "–" : `${value < 10 ? value.toFixed(1) : count(value)}/s`);

const text = (x, y, words, kind) => svg("text", { x: String(x), y: String(y), class: kind, "text-anchor": "middle" }, words);

/** Takes figures; the dots on the arrows move while updates flow. */
export class Picture {
  #figures = new Map();
  #description = svg("title", {});
  #drawing = svg("svg", { viewBox: `0 ${top} ${width} ${height - top}`, class: "picture", role: "img" }, this.#description);
  element = h("div", { class: "card picture-card" }, h("div", { class: "card-head" }, h("h2", {}, "How an update gets here")), this.#drawing);

  constructor() {
    this.#arrow("in", 0);
    this.#arrow("updates", 1);
    this.#fan();
    for (const box of boxes) this.#box(box);
    this.#drawing.append(text(575, 168, "A slow reader gets the newest value: updates between are merged.", "picture-note"));
    this.#figures.set("conflated", this.#drawing.appendChild(text(575, 186, "", "picture-figure small")));
  }

  #box({ name, x, title, text: words }) {
    const figure = text(x + boxWidth / 2, middle + 24, "–", "picture-figure");
    this.#figures.set(name, figure);
    this.#drawing.append(svg("rect", { x: String(x), y: String(middle - boxHeight / 2), width: String(boxWidth), height: String(boxHeight), rx: "10", class: "picture-box" }),
      text(x + boxWidth / 2, middle - 16, title, "picture-title"), text(x + boxWidth / 2, middle + 2, words, "picture-note"), figure);
  }

  #arrow(name, index) {
    const from = boxes[index].x + boxWidth, to = boxes[index + 1].x;
    const figure = text((from + to) / 2, middle - 12, "", "picture-note");
    this.#figures.set(name, figure);
    this.#drawing.append(svg("path", { d: `M${from} ${middle}H${to}`, class: "picture-flow" }), figure);
  }

  /** Three readers: the last one is slow, so that several updates become one. */
  #fan() {
    const from = boxes[2].x + boxWidth, to = boxes[3].x;
    for (const [y, kind] of [[middle - 24, ""], [middle, ""], [middle + 24, "slow"]]) {
      this.#drawing.append(svg("path", { d: `M${from} ${middle}C${from + 30} ${middle} ${from + 30} ${y} ${to} ${y}`, class: `picture-flow ${kind}` }));
    }
    this.#figures.set("out", this.#drawing.appendChild(text((from + to) / 2, middle - 34, "", "picture-note")));
  }

  /** `figures` are those of the metrics; `health` is the response of `/health`, null if it is not known. */
  show(figures, health) {
    const set = (name, words) => setText(this.#figures.get(name), words);
    const upstreams = health?.upstreams ?? [];
    const connected = upstreams.reduce((total, { connected }) => total + connected, 0);
    set("upstream", health ? `${upstreams.length} configured` : "–");
    set("session", health ? `${connected} connected` : "–");
    set("shared", health ? count(health.subscriptions) : "–");
    set("readers", count(figures.streams));
    set("updates", rate(figures.updateRate));
    set("out", rate(figures.deliveredRate));
    set("conflated", `${count(figures.conflated)} merged so far`);
    this.#drawing.classList.toggle("flowing", (figures.updateRate ?? 0) > 0);
    setText(this.#description, `${upstreams.length} upstreams, ${connected} sessions, ${health?.subscriptions ?? 0} shared subscriptions with `
      + `${rate(figures.updateRate)} updates, ${figures.streams} readers with ${rate(figures.deliveredRate)} events, ${figures.conflated} updates merged.`);
  }
}
