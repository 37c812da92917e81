// The panel of one subscription: progress, values, chart, chat and "Copy as".

import { h, isNumeric, setText, sparingly } from "/assets/dom.js";
import { Chart } from "/assets/chart.js";
import { ChatForm } from "/assets/chat.js";
import { rights } from "/assets/rights.js";
import { copyAs } from "/assets/snippets.js";
import { ProgressLine, age } from "/assets/status.js";
import { TableView, mainField } from "/assets/table.js";

const mostLines = 4;
const spans = [["1 min", 60_000], ["5 min", 300_000], ["30 min", 1_800_000]];

/** Dispatches `remove` when the user removes the subscription, and `chart` when the user chooses what the chart shows. */
export class FeedPanel extends EventTarget {
  #progress = new ProgressLine();
  #ageText = h("span", { class: "age-text" });
  #columns;
  /** The lines of the chart: `{row, field}`, the id of a row and a field of it. */
  #chosen = [];
  /** Events of thousands of keys or items, such as refused second levels, may arrive together. */
  #drawTimesSoon = sparingly(() => this.#drawTimes());

  constructor(feed) {
    super();
    this.feed = feed;
    this.table = new TableView(feed);
    this.table.addEventListener("select", ({ detail }) => this.#choose(detail.row, detail.field, detail.isMore, true));
    const values = h("div", { class: "card values-card" }, this.#head(), this.table.element);
    this.element = h("section", {
      class: "panel", id: `panel-${feed.key}`, role: "tabpanel", "aria-labelledby": `tab-${feed.key}`, hidden: true,
    }, this.#progress.element, this.#progress.problem,
    this.#columns = h("div", { class: "columns single" }, values, feed.isList ? null : this.#chartCard()),
    feed.spec.feed ? null : copyAs(feed.spec));
    if (feed.options.chat) {
      this.chat = new ChatForm(feed);
      values.append(this.chat.element);
    }
  }

  #head() {
    const remove = this.feed.options.isOwn
      ? h("button", { type: "button", class: "small", onclick: () => this.dispatchEvent(new Event("remove")) },
        "Unsubscribe")
      : null;
    return h("div", { class: "card-head" },
      h("div", {}, h("h2", {}, this.feed.title),
        this.feed.options.note ? h("p", { class: "note" }, this.feed.options.note) : null),
      h("div", { class: "row" }, this.#ageText, remove));
  }

  // MARK: - Chart

  #chartCard() {
    this.canvas = h("canvas", { class: "chart", tabIndex: 0, role: "img" });
    this.chart = new Chart(this.canvas, () => this.#showSpan());
    this.rowSelect = h("select", {
      "aria-label": "Item or key of the chart", class: "rows", onchange: () => this.#chooseBySelects(), onfocus: () => this.#offerRows(),
    });
    this.fieldSelect = h("select", { "aria-label": "Field of the chart", onchange: () => this.#chooseBySelects() });
    this.spanButtons = spans.map(([label, span]) => h("button", {
      type: "button", class: "chip", "aria-pressed": "false", data: { span: String(span) },
      onclick: () => this.chart.follow(span),
    }, label));
    this.followButton = h("button", { type: "button", class: "chip", onclick: () => this.chart.follow() }, "Live");
    this.addButton = h("button", { type: "button", class: "small", title: "Adds the chosen field as another line", onclick: () => this.#chooseBySelects(true) }, "+ Line");
    this.legend = h("ul", { class: "legend" });
    // Shown once there is a number to draw.
    return h("div", { class: "card chart-card", hidden: true },
      h("div", { class: "card-head" },
        h("div", { class: "row" }, this.rowSelect, this.fieldSelect, this.addButton),
        h("div", { class: "row" }, this.spanButtons, this.followButton)),
      this.legend, this.canvas,
      h("p", { class: "note" }, "Scroll or pinch to zoom, drag to move; keys ← → + − and Home."));
  }

  #showSpan() {
    for (const button of this.spanButtons) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.span) === this.chart.span && !this.chart.end));
    }
    this.followButton.setAttribute("aria-pressed", String(this.chart.end === null));
  }

  #numericFields(row) {
    return this.feed.columns.filter((name) => isNumeric(row.values[name]));
  }

  #chooseBySelects(isMore = false) {
    const row = this.feed.rows.get(this.rowSelect.value);
    if (!row) return;
    // Where the line is shown already, the choice is what to add.
    this.#choose(row, this.fieldSelect.value, isMore, true);
  }

  /** The lines of the chart, as `[row, field]`, for the URL. */
  get charted() { return this.#chosen.map(({ row, field }) => [row, field]); }

  /** Shows a line, alone or beside the others. */
  #choose(row, field, isMore = false, isByUser = false) {
    if (!row.history.has(field)) [field] = this.#numericFields(row);
    if (!field) return;
    const others = isMore ? this.#chosen.filter((line) => line.row !== row.id || line.field !== field) : [];
    this.#chosen = [...others.slice(1 - mostLines), { row: row.id, field }];
    this.#showLines();
    // Rows may come and go all the time: all of them are offered to a user who is about to choose.
    if (!this.rowSelect.matches(":focus")) replaceOptions(this.rowSelect, [[row.id, row.name]], row.id);
    else this.#offerRows(row.id);
    replaceOptions(this.fieldSelect, this.#numericFields(row).map((name) => [name, name.replaceAll("_", " ")]), field);
    if (isByUser) this.dispatchEvent(new Event("chart"));
  }

  #offerRows(chosen = this.rowSelect.value) {
    replaceOptions(this.rowSelect, [...this.feed.rows.values()].map(({ id, name }) => [id, name]), chosen);
  }

  #drop(line) {
    this.#chosen = this.#chosen.filter((other) => other !== line);
    this.#showLines();
    (this.legend.hidden ? this.addButton : this.legend.querySelector("button")).focus({ preventScroll: true });
    this.dispatchEvent(new Event("chart"));
  }

  #showLines() {
    this.#columns.classList.remove("single");
    this.#columns.lastChild.hidden = false;
    this.table.select(this.#chosen);
    this.legend.hidden = this.#chosen.length < 2;
    this.legend.replaceChildren(...this.#chosen.map((line) => h("li", {}, this.#label(line),
      h("button", { type: "button", class: "small link", "aria-label": `Remove ${this.#label(line)}`, onclick: () => this.#drop(line) }, "×"))));
    this.#drawChart();
  }

  #label({ row, field }) {
    const present = this.feed.rows.get(row);
    const name = present?.values.stock_name ? `${present.values.stock_name} (${present.name})` : present?.name ?? row;
    return `${name}, ${field.replaceAll("_", " ")}`;
  }

  #drawChart() {
    if (!this.chart) return;
    const lines = this.#chosen.filter(({ row }) => this.feed.rows.has(row));
    if (!lines.length) return this.#chooseFirst();
    this.chart.show(lines.map((line) => ({ series: this.feed.rows.get(line.row).history.get(line.field), label: this.#label(line) }))
      .filter(({ series }) => series));
  }

  /** The lines of the URL or of a preset, or the first number. */
  #chooseFirst() {
    const { rows, options } = this.feed;
    const wanted = (options.charts ?? [options.chart ?? []]).filter(([row, field]) => rows.get(row)?.history.has(field));
    for (const [row, field] of wanted) this.#choose(rows.get(row), field, true);
    if (wanted.length) return;
    const row = rows.values().next().value;
    const field = row && mainField(this.#numericFields(row));
    if (field) this.#choose(row, field);
    else this.chart.show([]);
  }

  // MARK: - Drawing

  /** Draws the values that changed. */
  draw() {
    this.table.draw();
    this.#drawChart();
  }

  /** Draws what depends on the time and on the state of the stream; of a page that holds its values, not what depends on these. */
  drawState(streamState, isSilent, isPaused) {
    this.#progress.show(streamState, this.feed);
    const { isStale, text } = age(streamState, this.feed, isSilent);
    setText(this.#ageText, text);
    this.element.classList.toggle("stale", isStale && this.feed.lastValueAt !== null);
    this.chat?.show(streamState, rights.may("send"));
    if (!isPaused) this.#drawTimesSoon();
  }

  /** Draws the ages of all rows, and the chart. */
  #drawTimes() {
    this.table.drawSlowly();
    if (!this.chart) return;
    if (this.chart.end === null) this.chart.draw();
    this.canvas.setAttribute("aria-label", this.chart.description);
    this.#showSpan();
  }
}

function replaceOptions(select, entries, chosen) {
  const text = JSON.stringify(entries);
  if (select.dataset.entries !== text) {
    select.dataset.entries = text;
    select.replaceChildren(...entries.map(([value, label]) => new Option(label, value)));
  }
  select.value = chosen;
}
