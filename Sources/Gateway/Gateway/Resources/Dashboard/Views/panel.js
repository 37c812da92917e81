// The panel of one subscription: progress, values, chart, chat and "Copy as".

import { h, isNumeric, setText } from "/assets/dom.js";
import { Chart } from "/assets/chart.js";
import { ChatForm } from "/assets/chat.js";
import { copyAs } from "/assets/snippets.js";
import { ProgressLine, age } from "/assets/status.js";
import { TableView } from "/assets/table.js";

const spans = [["1 min", 60_000], ["5 min", 300_000], ["30 min", 1_800_000]];

/** Dispatches `remove` when the user removes the subscription. */
export class FeedPanel extends EventTarget {
  #progress = new ProgressLine();
  #ageText = h("span", { class: "age-text" });
  #columns;
  #chosen = null;

  constructor(feed) {
    super();
    this.feed = feed;
    this.table = new TableView(feed);
    this.table.addEventListener("select", ({ detail }) => this.#choose(detail.row, detail.field));
    const values = h("div", { class: "card values-card" }, this.#head(), this.table.element);
    this.element = h("section", {
      class: "panel", id: `panel-${feed.key}`, role: "tabpanel", "aria-labelledby": `tab-${feed.key}`, hidden: true,
    }, this.#progress.element, this.#progress.problem,
    this.#columns = h("div", { class: "columns single" }, values, feed.isList ? null : this.#chartCard()),
    copyAs(feed.spec));
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
    this.rowSelect = h("select", { "aria-label": "Item or key of the chart", onchange: () => this.#chooseBySelects() });
    this.fieldSelect = h("select", { "aria-label": "Field of the chart", onchange: () => this.#chooseBySelects() });
    this.spanButtons = spans.map(([label, span]) => h("button", {
      type: "button", class: "chip", "aria-pressed": "false", data: { span: String(span) },
      onclick: () => this.chart.follow(span),
    }, label));
    this.followButton = h("button", { type: "button", class: "chip", onclick: () => this.chart.follow() }, "Live");
    // Shown once there is a number to draw.
    return h("div", { class: "card chart-card", hidden: true },
      h("div", { class: "card-head" },
        h("div", { class: "row" }, this.rowSelect, this.fieldSelect),
        h("div", { class: "row" }, this.spanButtons, this.followButton)),
      this.canvas,
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

  #chooseBySelects() {
    const row = this.feed.rows.get(this.rowSelect.value);
    if (row) this.#choose(row, this.fieldSelect.value);
  }

  #choose(row, field) {
    if (!row.history.has(field)) [field] = this.#numericFields(row);
    if (!field) return;
    this.#chosen = { row: row.id, field };
    this.#columns.classList.remove("single");
    this.#columns.lastChild.hidden = false;
    this.table.select(row, field);
    const { rows } = this.feed;
    replaceOptions(this.rowSelect, [...rows.values()].map((other) => [other.id, other.name]), row.id);
    replaceOptions(this.fieldSelect, this.#numericFields(row).map((name) => [name, name.replaceAll("_", " ")]), field);
    this.#drawChart();
  }

  #drawChart() {
    if (!this.chart) return;
    const row = this.#chosen && this.feed.rows.get(this.#chosen.row);
    if (!row) return this.#chooseFirst();
    const name = row.values.stock_name ? `${row.values.stock_name} (${row.name})` : row.name;
    this.chart.show(row.history.get(this.#chosen.field), `${name}, ${this.#chosen.field.replaceAll("_", " ")}`);
  }

  #chooseFirst() {
    const [wantedRow, wantedField] = this.feed.options.chart ?? [];
    const row = this.feed.rows.get(wantedRow) ?? this.feed.rows.values().next().value;
    const field = row && (row.history.has(wantedField) ? wantedField : this.#firstField(row));
    if (field) this.#choose(row, field);
    else this.chart.show(null, "");
  }

  #firstField(row) {
    const names = this.#numericFields(row);
    return names.find((name) => /price|last|value/.test(name)) ?? names[0];
  }

  // MARK: - Drawing

  /** Draws the values that changed. */
  draw() {
    this.table.draw();
    this.#drawChart();
  }

  /** Draws what depends on the time and on the state of the stream. */
  drawState(streamState, isSilent) {
    this.#progress.show(streamState, this.feed);
    const { isStale, text } = age(streamState, this.feed, isSilent);
    setText(this.#ageText, text);
    this.element.classList.toggle("stale", isStale && this.feed.lastValueAt !== null);
    this.table.drawSlowly();
    this.chat?.show(streamState);
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
