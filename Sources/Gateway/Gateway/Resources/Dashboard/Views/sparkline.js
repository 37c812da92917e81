// A small line of the last values.

import { svg } from "/assets/dom.js";

const width = 100;
const height = 24;
const most = 60;

/** An SVG element that draws an array of numbers; it stretches to the size that its style gives it. */
export class Sparkline {
  #line = svg("polyline", { class: "spark-line" });
  #area = svg("polygon", { class: "spark-area" });
  element = svg(
    "svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    this.#area, this.#line,
  );

  draw(values) {
    const shown = values.slice(-most);
    if (shown.length < 2) {
      this.#line.removeAttribute("points");
      this.#area.removeAttribute("points");
      return;
    }
    const low = Math.min(...shown);
    const range = Math.max(...shown) - low || 1;
    const points = shown.map((value, index) => {
      const x = (index / (shown.length - 1)) * width;
      const y = height - 2 - ((value - low) / range) * (height - 4);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    this.#line.setAttribute("points", points.join(" "));
    this.#area.setAttribute("points", `0,${height} ${points.join(" ")} ${width},${height}`);
  }
}
