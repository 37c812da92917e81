// A zoomable line chart of numeric fields over time, drawn on a canvas.

import { clock, isOfBrowser, reducedMotion } from "/assets/dom.js";

const margin = { top: 14, right: 66, bottom: 24, left: 10 };
const lineColors = ["--chart-line", "--chart-line-2", "--chart-line-3", "--chart-line-4"];
const shortestSpan = 5_000;
const leastShown = 20_000;
const longestSpan = 6 * 3_600_000;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200].map((seconds) => seconds * 1000);

export class Chart {
  /** The longest time that is shown, in milliseconds; `end` is null while the right edge follows the clock. */
  span = 300_000;
  end = null;
  #canvas;
  /** The lines: `{series, label}`. */
  #lines = [];
  #pointer = null;
  #pointers = new Map();
  #onZoom;

  constructor(canvas, onZoom) {
    this.#canvas = canvas;
    this.#onZoom = onZoom;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      canvas.addEventListener(name, (event) => this.#up(event));
    }
    canvas.addEventListener("dblclick", () => this.follow());
    canvas.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Shows lines; the first one is the one that is filled where it is alone. */
  show(lines) {
    this.#lines = lines;
    this.draw();
  }

  /** Shows the newest values of a span. */
  follow(span = this.span) {
    this.span = span;
    this.end = null;
    this.#zoomed();
  }

  /** A description of the chart, for screen readers. */
  get description() {
    if (!this.#lines.length) return "No values yet.";
    return this.#lines.map(({ series: { values, decimals }, label }) => {
      const text = (value) => value.toFixed(decimals);
      return `${label}: ${values.length} values, lowest ${text(Math.min(...values))}, highest ${text(Math.max(...values))}, `
        + `latest ${text(values.at(-1))}.`;
    }).join(" ");
  }

  // MARK: - Zoom

  #zoomed() {
    this.#onZoom?.();
    this.draw();
  }

  #now() { return this.end ?? Date.now(); }

  /**
   * The shown time, in milliseconds; while the right edge follows the clock, little more than the time that has values.
   */
  get #shown() {
    const first = Math.min(...this.#lines.map(({ series }) => series.times[0]));
    if (this.end !== null || first === Infinity) return this.span;
    return Math.min(this.span, Math.max(leastShown, (Date.now() - first) * 1.05));
  }

  zoom(factor, at = 1) {
    const shown = this.#shown;
    const span = Math.min(longestSpan, Math.max(shortestSpan, shown * factor));
    const center = this.#now() - shown * (1 - at);
    this.#moveTo(center + span * (1 - at), span);
  }

  pan(share) { this.#moveTo(this.#now() + this.#shown * share, this.#shown); }

  #moveTo(end, span) {
    this.span = span;
    this.end = end >= Date.now() - 500 ? null : end;
    this.#zoomed();
  }

  #share(event) {
    const { left, width } = this.#canvas.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left - margin.left) / (width - margin.left - margin.right)));
  }

  #wheel(event) {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / 600);
    else this.zoom(Math.exp(event.deltaY / 400), this.#share(event));
  }

  #down(event) {
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pointers.set(event.pointerId, event.clientX);
  }

  #move(event) {
    this.#pointer = { x: event.offsetX, y: event.offsetY };
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return this.draw();
    const distance = this.#distance();
    this.#pointers.set(event.pointerId, event.clientX);
    if (this.#pointers.size === 2) {
      const now = this.#distance();
      if (distance > 0 && now > 0) this.zoom(distance / now, 0.5);
    } else {
      const width = this.#canvas.clientWidth - margin.left - margin.right;
      if (event.clientX !== before) this.pan((before - event.clientX) / width);
    }
  }

  #distance() {
    const [one, other] = [...this.#pointers.values()];
    return Math.abs(one - other);
  }

  #up(event) {
    this.#pointers.delete(event.pointerId);
    if (event.type === "pointerleave") this.#pointer = null;
    this.draw();
  }

  #key(event) {
    const actions = {
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      Home: () => this.follow(), End: () => this.follow(),
    };
    if (!actions[event.key] || isOfBrowser(event)) return;
    event.preventDefault();
    actions[event.key]();
  }

  // MARK: - Drawing

  draw() {
    const canvas = this.#canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0) return;
    const scale = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const colors = this.#colors();
    context.font = colors.font;
    const lines = this.#lines.map(({ series, label }, index) => (
      { points: this.#visible(series), label, decimals: series.decimals, color: colors.lines[index % colors.lines.length] }
    )).filter(({ points }) => points.length);
    const plot = this.#plot(width, height, lines);
    this.#grid(context, plot, lines, colors);
    if (lines.length === 0) return this.#empty(context, plot, colors);
    for (const line of lines) this.#line(context, plot, line, lines.length === 1 ? colors.fill : null, colors);
    if (this.#pointer && !this.#pointers.size) this.#cross(context, plot, lines, colors);
  }

  #colors() {
    const style = getComputedStyle(this.#canvas);
    const color = (name) => style.getPropertyValue(name).trim();
    return {
      font: `12px ${style.fontFamily}`, ink: style.color, dim: color("--chart-text"), grid: color("--chart-grid"),
      lines: lineColors.map(color), fill: color("--chart-fill"), paper: color("--chart-paper"),
    };
  }

  /** The points of the shown time, with the one before it, since a value holds until the next. */
  #visible({ times, values }) {
    const end = this.#now();
    const start = end - this.#shown;
    let first = times.findIndex((time) => time >= start);
    if (first < 0) first = times.length;
    first = Math.max(0, first - 1);
    const points = [];
    for (let index = first; index < times.length && times[index] <= end; index += 1) {
      points.push({ time: times[index], value: values[index] });
    }
    if (points.length) points.push({ time: end, value: points.at(-1).value, isEdge: true });
    return points;
  }

  #plot(width, height, lines) {
    const end = this.#now();
    const span = this.#shown;
    const values = lines.flatMap(({ points }) => points.map((point) => point.value));
    let low = Math.min(...values);
    let high = Math.max(...values);
    if (!values.length) [low, high] = [0, 1];
    const spare = (high - low) * 0.08 || Math.abs(high) * 0.01 || 1;
    low -= spare;
    high += spare;
    const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    return {
      width, height, low, high, span, start: end - span, end, decimals: Math.max(0, ...lines.map(({ decimals }) => decimals)),
      x: (time) => margin.left + ((time - end + span) / span) * inner.width,
      y: (value) => margin.top + (1 - (value - low) / (high - low)) * inner.height,
      right: width - margin.right, bottom: height - margin.bottom,
    };
  }

  #grid(context, plot, lines, colors) {
    context.lineWidth = 1;
    context.strokeStyle = colors.grid;
    context.fillStyle = colors.dim;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const last = lines.map(({ points }) => plot.y(points.at(-1).value));
    let former;
    for (const value of ticks(plot.low, plot.high, Math.max(2, Math.floor(plot.height / 48)), 10 ** -plot.decimals)) {
      const y = Math.round(plot.y(value)) + 0.5, text = short(value, plot.decimals);
      stroke(context, [[margin.left, y], [plot.right, y]]);
      // Long numbers are rounded: what another line has already would be wrong beside this one.
      if (text !== former && last.every((other) => Math.abs(y - other) > 16)) context.fillText(text, plot.right + 11, y);
      former = text;
    }
    context.textAlign = "center";
    const step = steps.find((step) => plot.span / step <= Math.max(2, plot.width / 110)) ?? steps.at(-1);
    for (let time = Math.ceil(plot.start / step) * step; time <= plot.end; time += step) {
      const x = plot.x(time);
      if (x < margin.left + 24 || x > plot.right - 10) continue;
      context.fillText(clock(time), x, plot.bottom + 14);
    }
  }

  #empty(context, plot, colors) {
    context.fillStyle = colors.dim;
    context.textAlign = "center";
    context.fillText("No values in this time", plot.width / 2, plot.height / 2);
  }

  #line(context, plot, { points, color, decimals }, fill, colors) {
    context.save();
    context.beginPath();
    context.rect(margin.left, 0, plot.right - margin.left, plot.height);
    context.clip();
    context.beginPath();
    points.forEach(({ time, value }, index) => {
      const x = plot.x(time);
      if (index) context.lineTo(x, plot.y(points[index - 1].value));
      context[index ? "lineTo" : "moveTo"](x, plot.y(value));
    });
    context.lineWidth = 1.75;
    context.lineJoin = "round";
    context.strokeStyle = color;
    context.stroke();
    if (fill) {
      context.lineTo(plot.right, plot.bottom);
      context.lineTo(plot.x(points[0].time), plot.bottom);
      context.fillStyle = fill;
      context.fill();
    }
    context.restore();
    const value = points.at(-1).value, y = plot.y(value);
    if (fill && !reducedMotion.matches) {
      context.fillStyle = fill;
      disc(context, plot.right, y, 6);
    }
    context.fillStyle = color;
    disc(context, plot.right, y, 3);
    tag(context, short(value, decimals), plot.right + 5, y, color, colors.paper);
  }

  /** The values of all lines at the time of the pointer. */
  #cross(context, plot, lines, colors) {
    const x = Math.min(plot.right, Math.max(margin.left, this.#pointer.x));
    const time = plot.start + ((x - margin.left) / (plot.right - margin.left)) * plot.span;
    context.strokeStyle = colors.dim;
    context.setLineDash([3, 3]);
    stroke(context, [[x, margin.top], [x, plot.bottom]]);
    context.setLineDash([]);
    const values = lines.map(({ points, color, decimals }) => {
      const point = points.findLast((point) => point.time <= time && !point.isEdge) ?? points[0];
      context.fillStyle = color;
      disc(context, x, plot.y(point.value), 3.5);
      return short(point.value, decimals);
    });
    const text = `${values.join("  ")}  ${clock(time)}`;
    const width = context.measureText(text).width + 12;
    tag(context, text, Math.min(plot.right - width, Math.max(margin.left, x + 8)), margin.top + 8, colors.ink, colors.paper);
  }
}

/** Values for the lines of the grid, which differ by `least` or more. */
function ticks(low, high, wanted, least) {
  const rough = Math.max(least, (high - low) / wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  const first = Math.ceil(low / step) * step;
  // By their number: a step may be too small to change a large value.
  return Array.from({ length: Math.floor((high - first) / step) + 1 }, (_, index) => first + index * step);
}

/** A number with the decimals of the data, unless that is longer than the space beside the chart. */
function short(value, decimals) {
  const text = value.toFixed(decimals);
  return Math.abs(value) >= 1e7 && text.length > 8 ? value.toExponential(2) : text;
}

function stroke(context, points) {
  context.beginPath();
  points.forEach(([x, y], index) => context[index ? "lineTo" : "moveTo"](x, y));
  context.stroke();
}

function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

function tag(context, text, x, y, fill, ink) {
  const width = context.measureText(text).width + 12;
  context.fillStyle = fill;
  context.beginPath();
  context.roundRect(x, y - 10, width, 20, 4);
  context.fill();
  context.fillStyle = ink;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, x + 6, y + 0.5);
}
