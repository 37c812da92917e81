// The table of a subscription: one row for each item (MERGE), key (COMMAND) or event (DISTINCT, RAW).

import { ageText, clock, h, isNumeric, reducedMotion, setText } from "/assets/dom.js";
import { Sparkline } from "/assets/sparkline.js";

const fadeTime = 900;
const longValue = 40;
const mostNames = 5; // items that the caption names: a screen reader reads it as a whole
const sortInterval = 1000;
const mostMoves = 100; // changes of one drawing that are animated; more animations take the time of the page
const mostLines = 100; // rows of a longer table that are in the page: each change has the browser lay out all of them
const step = 25; // rows by which these move
const flashes = { 1: "--flash-up", "-1": "--flash-down", 0: "--flash-new" };
const chartHint = "Show the chart; with Shift or Ctrl beside the others";
const arrows = { 1: "▲", "-1": "▼" };

const label = (name) => name.replaceAll("_", " ");

/** Dispatches `select` (detail `{row, field}`) when a number is chosen. */
export class TableView extends EventTarget {
  #feed;
  #head = h("tr");
  #table;
  /** The space of the rows without lines. Beside the table, so that the browser keeps the rows in view in their place. */
  #above = h("div");
  #below = h("div");
  #body = h("tbody", { data: { empty: "No values yet." } });
  /** The rows in the order of the table; of a long one, only those around the rows in view have lines. */
  #rows = [];
  #lines = new Map();
  #lineHeight = 0;
  #scrollTop = 0;
  #columns = [];
  #order = null;
  #sortedAt = 0;
  #selected = [];
  #numeric = new Set();
  /** The rows whose sparkline is to be drawn. */
  #sparks = new Set();
  /** The number of cells and rows that the present drawing changes. */
  #changes = 0;

  constructor(feed) {
    super();
    this.#feed = feed;
    this.caption = h("caption", { class: "visually-hidden" }, this.#describe());
    this.#table = h("table", { class: `values ${feed.mode.toLowerCase()}` }, this.caption, h("thead", {}, this.#head), this.#body);
    this.element = h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": `${feed.title}: values`, onscroll: () => this.#scrolled() },
      this.#above, this.#table, this.#below);
    this.#drawHead();
    feed.addEventListener("columns", () => this.#extend());
  }

  #describe() {
    const { spec, title } = this.#feed;
    const names = spec.items ?? [spec.itemGroup], others = names.length - mostNames;
    const items = `${names.slice(0, mostNames).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
    return `${title}: ${spec.mode} of ${items}, ${spec.feed ? `feed ${spec.feed}` : `upstream ${spec.upstream}`}`;
  }

  // MARK: - Head

  get #firstColumn() {
    if (this.#feed.isList) return "received";
    return this.#feed.mode === "COMMAND" ? "key" : "item";
  }

  #drawHead() {
    this.#columns = [...this.#feed.columns];
    if (this.#feed.isList && (this.#feed.spec.items?.length ?? 2) > 1) this.#columns.unshift("item");
    const names = [this.#firstColumn, ...this.#columns, ...(this.#feed.isList ? [] : ["trend", "age"])];
    this.#head.replaceChildren(...names.map((name, index) => this.#headCell(name, index)));
  }

  #headCell(name, index) {
    const cell = h("th", { scope: "col", data: { column: name } });
    if (this.#numeric.has(name) || name === "age") cell.classList.add("number");
    if (index === 0) cell.classList.add("first");
    if (this.#feed.isList || name === "age" || (name === "trend" && index > this.#columns.length)) {
      cell.append(label(name));
      return cell;
    }
    const isOrdered = this.#order?.name === name;
    const direction = isOrdered ? this.#order.direction : 0;
    cell.setAttribute("aria-sort", direction > 0 ? "ascending" : direction < 0 ? "descending" : "none");
    cell.append(h("button", { type: "button", class: "sort", onclick: () => this.#orderBy(name) },
      label(name), h("span", { class: "sort-mark", "aria-hidden": "true" }, arrows[direction] ?? "")));
    return cell;
  }

  #orderBy(name) {
    const present = this.#order?.name === name ? this.#order.direction : 0;
    const next = { 0: 1, 1: -1, "-1": 0 }[present];
    this.#order = next ? { name, direction: next } : null;
    // The view does not follow rows whose place changes.
    this.element.style.overflowAnchor = next ? "none" : "auto";
    this.#drawHead();
    this.#head.querySelector(`[data-column="${CSS.escape(name)}"] button`)?.focus();
    this.#sort();
    this.drawSlowly();
  }

  #sort() {
    this.#sortedAt = performance.now();
    this.#rows = [...this.#feed.rows.values()];
    if (this.#order) {
      const { name, direction } = this.#order;
      const value = (row) => (name === this.#firstColumn ? row.name : row.values[name]);
      this.#rows.sort((one, other) => direction * compare(value(one), value(other)));
    }
    this.#fill();
  }

  /** Takes the rows that came and went; until they are sorted again, new ones are the last. */
  #arrange() {
    if (!this.#order || performance.now() - this.#sortedAt > sortInterval) return this.#sort();
    const present = new Set(this.#feed.rows.values());
    this.#rows = [...new Set([...this.#rows.filter((row) => present.has(row)), ...present])];
    this.#fill();
  }

  #extend() {
    this.#drawHead();
    const rows = [...this.#lines.keys()];
    for (const { line } of this.#lines.values()) line.remove();
    this.#lines.clear();
    if (!this.#feed.isList) return this.#fill();
    for (const row of rows) this.#place(this.#add(row));
  }

  // MARK: - Rows

  /** Whether nothing moves: in a hidden page an animation never ends, and keeps its row. */
  get #isStill() { return reducedMotion.matches || document.hidden || this.#changes > mostMoves; }

  /** Draws what changed since the last time. */
  draw() {
    // Before the changes, after which the browser would have to lay out the table for it.
    if (this.#rows.length > mostLines) this.#scrollTop = this.element.scrollTop;
    this.#changes = 0;
    for (const [row, names] of this.#feed.dirty) if (!names || this.#lines.has(row)) this.#changes += names?.size ?? 1;
    for (const [row, names] of this.#feed.dirty) {
      if (row.removed) this.#remove(row);
      else if (this.#lines.has(row)) for (const name of names ?? []) this.#write(row, name, true);
      else if (this.#feed.isList) this.#place(this.#add(row));
      this.#lines.get(row)?.line.classList.toggle("old", row.isOld);
    }
    if (!this.#feed.isList) this.#arrange();
    this.#feed.dirty.clear();
  }

  #scrolled() {
    this.#scrollTop = this.element.scrollTop;
    this.#fill();
    this.drawSlowly();
  }

  /** Gives lines to all rows, for a printer, or again to those in view. */
  print(isBegin) {
    this.#fill(isBegin ? Infinity : mostLines);
    this.drawSlowly();
  }

  /** Gives lines to the rows around those in view, and takes them from all others, whose space is left empty. */
  #fill(most = mostLines) {
    if (this.#feed.isList) return;
    const count = this.#rows.length, isLong = count > most;
    const inView = isLong && this.#lineHeight ? Math.floor(this.#scrollTop / this.#lineHeight / step) - 1 : 0;
    const start = Math.max(0, Math.min(inView * step, count - most));
    const rows = new Set(this.#rows.slice(start, start + most));
    for (const [row, { line }] of this.#lines) {
      if (rows.has(row)) continue;
      line.remove();
      this.#lines.delete(row);
    }
    let next = this.#body.firstChild, index = start + 1;
    for (const row of rows) {
      const line = this.#lines.get(row)?.line ?? this.#add(row);
      while (next?.classList.contains("leaving")) next = next.nextSibling;
      if (line === next) next = next.nextSibling;
      else this.#body.insertBefore(line, next);
      index += 1;
      if (line.ariaRowIndex !== `${index}`) line.ariaRowIndex = index;
    }
    if (isLong) this.#lineHeight ||= this.#body.firstChild.offsetHeight;
    this.#table.ariaRowCount = count + 1;
    this.#above.style.height = `${start * this.#lineHeight}px`;
    this.#below.style.height = `${(count - start - rows.size) * this.#lineHeight}px`;
  }

  /** Draws the parts that are not updated at each change: the sparklines, and how long ago each row changed. */
  drawSlowly() {
    if (this.#feed.isList) return;
    for (const row of this.#sparks) this.#lines.get(row)?.spark.draw(this.#trend(row));
    this.#sparks.clear();
    const now = Date.now();
    for (const [row, { age }] of this.#lines) setText(age, ageText((now - row.at) / 1000, row.isKnown));
  }

  /** The past values of the field of the chart, or else of the row's first number. */
  #trend(row) {
    const chosen = this.#selected[0]?.field;
    const field = row.history.has(chosen) ? chosen : mainField([...row.history.keys()]);
    return row.history.get(field)?.values ?? [];
  }

  #add(row) {
    row.isDrawn = true;
    const name = this.#feed.isList ? clock(row.at) : row.name;
    const line = h("tr", { data: { row: row.name } }, h("th", { scope: "row", class: "first", title: name.length > longValue ? name : null }, name));
    const cells = new Map();
    for (const column of this.#columns) {
      const cell = h("td", { data: { field: column } }, h("span", { class: "value" }));
      cells.set(column, { cell, value: cell.firstChild });
      line.append(cell);
    }
    const age = h("td", { class: "number age" });
    const spark = new Sparkline();
    if (!this.#feed.isList) line.append(h("td", { class: "trend" }, spark.element), age);
    this.#lines.set(row, { line, cells, age, spark });
    for (const column of this.#columns) this.#write(row, column, false);
    line.classList.toggle("old", row.isOld);
    this.#mark(row);
    if (!this.#isStill && this.#body.children.length > 1 && this.#feed.dirty.has(row)) {
      line.animate([{ opacity: 0.2 }, { opacity: 1 }], { duration: 300 });
    }
    return line;
  }

  /** New lines of a list are shown first; those of a chat last, in view unless the reader scrolled away. */
  #place(line) {
    if (!this.#feed.options.isNewestLast) return this.#body.prepend(line);
    // Reading these lays out the table, which takes long for many rows; a list has few.
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 40;
    this.#body.append(line);
    if (isAtEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  #remove(row) {
    const entry = this.#lines.get(row);
    if (!entry) return;
    this.#lines.delete(row);
    if (this.#feed.isList || this.#isStill) return entry.line.remove();
    entry.line.classList.add("leaving");
    entry.line.animate([{ opacity: 1 }, { opacity: 0 }], { duration: fadeTime }).onfinish = () => entry.line.remove();
  }

  // MARK: - Cells

  #write(row, name, isChange) {
    const entry = this.#lines.get(row).cells.get(name);
    if (!entry) return;
    const value = this.#feed.isList && name === "item" ? row.item : row.values[name];
    if (this.#feed.options.times?.includes(name)) return setText(entry.value, clock(Number(value)));
    setText(entry.value, value ?? "");
    entry.cell.classList.toggle("null", value === null || value === undefined);
    if (isNumeric(value)) this.#writeNumber(row, name, entry);
    else if (entry.arrow) setText(entry.arrow, "");
    this.#hint(entry, value?.length > longValue ? value : entry.isChartable ? chartHint : "");
    if (isChange) this.#flash(entry, isNumeric(value) ? row.direction[name] ?? 0 : 0);
  }

  #writeNumber(row, name, entry) {
    if (!this.#numeric.has(name)) {
      this.#numeric.add(name);
      this.#head.querySelector(`[data-column="${CSS.escape(name)}"]`)?.classList.add("number");
    }
    if (!entry.arrow) {
      entry.cell.classList.add("number");
      entry.arrow = h("span", { class: "arrow", "aria-hidden": "true" });
      entry.cell.prepend(entry.arrow);
      if (!this.#feed.isList) this.#makeChartable(row, name, entry);
    }
    const direction = row.direction[name] ?? 0;
    setText(entry.arrow, arrows[direction] ?? "");
    entry.arrow.dataset.direction = String(direction);
    if (!this.#feed.isList) this.#sparks.add(row);
  }

  /** Sets what the browser shows beside a cell under the pointer. */
  #hint(entry, text) {
    if ((entry.hint ?? "") === text) return;
    entry.hint = entry.cell.title = text;
  }

  #makeChartable(row, name, entry) {
    entry.isChartable = true;
    entry.cell.classList.add("chartable");
    entry.cell.addEventListener("click", ({ shiftKey, ctrlKey, metaKey }) => {
      this.dispatchEvent(new CustomEvent("select", { detail: { row, field: name, isMore: shiftKey || ctrlKey || metaKey } }));
    });
  }

  /** Colors a cell for a moment. A cell that changes all the time has one animation, not one for each change. */
  #flash(entry, direction) {
    if (this.#isStill) return;
    const isFresh = entry.flash?.playState === "running" && entry.flash.currentTime < fadeTime / 2;
    if (isFresh && entry.flashed === direction) return;
    entry.flash?.cancel();
    entry.flashed = direction;
    entry.flash = entry.cell.animate(
      [{ backgroundColor: `var(${flashes[direction]})` }, { backgroundColor: "transparent" }],
      { duration: fadeTime, easing: "ease-out" },
    );
  }

  /** Marks the cells whose charts are shown; the sparklines show the field of the first one. */
  select(lines) {
    for (const cell of this.#body.querySelectorAll("td.selected")) cell.classList.remove("selected");
    if (lines[0]?.field !== this.#selected[0]?.field) for (const row of this.#lines.keys()) this.#sparks.add(row);
    this.#selected = lines;
    for (const { row } of lines) if (this.#feed.rows.has(row)) this.#mark(this.#feed.rows.get(row));
  }

  /** Marks the cells of a row whose charts are shown. */
  #mark(row) {
    for (const { row: id, field } of this.#selected) {
      if (id === row.id) this.#lines.get(row)?.cells.get(field)?.cell.classList.add("selected");
    }
  }
}

/** The number that a row is about, of several names. */
export const mainField = (names) => names.find((name) => /price|last|value/.test(name)) ?? names[0];

const texts = new Intl.Collator("en", { numeric: true });

function compare(one, other) {
  if (isNumeric(one) && isNumeric(other)) return Number(one) - Number(other);
  return texts.compare(one ?? "", other ?? "");
}
