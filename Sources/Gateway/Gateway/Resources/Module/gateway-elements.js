// Elements over gateway.js: live data in one line of HTML.
//
//   <script type="module" src="https://gateway.example.com/assets/gateway-elements.js"></script>
//   <ls-value upstream="demo" item="item1" field="last_price"></ls-value>
//   <ls-table upstream="demo" items="item1,item2" fields="stock_name,last_price" caption="Quotes"></ls-table>
//
// Without the attribute `gateway` the gateway is the origin that this module came from; where a proxy has it below a path, the attribute
// names the path: `gateway="/live"`. An application that has a token sets `LsElement.connection = (url) => connect(url, { token })`.

import { connect, tableOf } from "./gateway.js";

const gateways = new Map();
const home = new URL(import.meta.url).origin;
const members = [
  "upstream", "feed", "mode", "items", "item-group", "fields", "field-schema", "data-adapter", "selector", "requested-snapshot",
  "requested-max-frequency", "requested-buffer-size", "command-second-level-fields", "command-second-level-field-schema",
  "command-second-level-data-adapter",
];
const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

const mostFlashes = 100; // changed cells of one drawing; where all cells flash, their animations take the time of the page

const style = `
  :host { display: inline-block; color: var(--ls-color, inherit); font: var(--ls-font, inherit); }
  :host(ls-table) { display: block; overflow-x: auto; }
  :host([hidden]) { display: none; }
  [data-state=stale], [data-state=reconnecting] { opacity: var(--ls-stale-opacity, 0.55); }
  .problem { color: var(--ls-problem-color, #b3261e); }
  table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
  caption { text-align: start; font-weight: 600; padding-block: 0.3em; }
  th, td { text-align: start; padding: var(--ls-cell-padding, 0.25em 0.75em); border-block-end: 1px solid var(--ls-line, #8884); }
  .changed { animation: changed var(--ls-flash-time, 0.6s); }
  .again { animation-name: again; }
  @keyframes changed { from { background: var(--ls-flash, #ffd54a88); } }
  @keyframes again { from { background: var(--ls-flash, #ffd54a88); } }
  @media (prefers-reduced-motion: reduce) { .changed { animation: none; } }
`;

const sheets = new WeakMap();

/** The style sheets of elements in a document: another document takes none that its window has not made. */
function sheetsOf(document) {
  const Sheet = document.defaultView?.CSSStyleSheet;
  if (!Sheet) return [];
  if (!sheets.has(document)) {
    const sheet = new Sheet();
    sheet.replaceSync(style);
    sheets.set(document, [sheet]);
  }
  return sheets.get(document);
}

/** The text of a value; those of feeds have types. */
const textOf = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? ""));

/** Sets a text that differs from the present one; true if it does. Screen readers announce again what is set again. */
function setText(element, text) {
  if (element.textContent === text) return false;
  element.textContent = text;
  return true;
}

/** Begins the animation of a change. One of another name begins without a layout of the page, which takes long in a large table. */
function flash(element) {
  element.classList.add("changed");
  element.classList.toggle("again");
}

/** Another copy of this module, of another address or version, may have defined the elements of this page. */
const defined = customElements.get("ls-value");

/** What both elements have: a subscription that follows the attributes, drawn at most once a frame. */
export const LsElement = defined ? Object.getPrototypeOf(defined) : class LsElement extends HTMLElement {
  static connection = (url) => connect(url);

  static get observedAttributes() { return [...members, "gateway", "item", "field", "caption", "bound"]; }

  #handle = null;
  /** What the handle is of. */
  #source = "";
  #frame = 0;
  #isDue = false;

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = sheetsOf(this.ownerDocument);
  }

  get spec() {
    const spec = {};
    for (const name of members) if (this.hasAttribute(name)) spec[camel(name)] = this.getAttribute(name);
    return spec;
  }

  connectedCallback() { this.attributeChangedCallback(); }
  disconnectedCallback() { this.attributeChangedCallback(); }

  adoptedCallback(former) {
    this.shadowRoot.adoptedStyleSheets = sheetsOf(this.ownerDocument);
    former.defaultView?.cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  attributeChangedCallback() {
    if (this.#isDue) return;
    // Once for all that changes together, also for an element that is moved, and after the module that imports this one has set `connection`.
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (this.isConnected) this.#follow();
      else this.#end();
    });
  }

  #follow() {
    const url = this.getAttribute("gateway") ?? home, { spec } = this, bound = Number(this.getAttribute("bound")) || undefined;
    const source = JSON.stringify([url, spec, bound]);
    // The page that this module is in may be hidden, and have no frames, while another window has the element.
    const draw = () => {
      this.#frame ||= this.ownerDocument.defaultView?.requestAnimationFrame(() => { this.#frame = 0; if (this.#handle) this.draw(this.#handle); });
    };
    if (!this.#handle || this.#source !== source) {
      this.#end();
      try {
        if (!gateways.has(url)) gateways.set(url, LsElement.connection(url));
      } catch (error) {
        this.#refuse(`No gateway at ${url}: ${error.message}`);
        throw error;
      }
      this.#handle = gateways.get(url).subscribe(spec, { change: draw, state: draw, bound });
      this.#source = source;
    }
    draw();
  }

  /** Without a subscription, the rows of the former one are void. */
  #refuse(reason) {
    const table = tableOf();
    this.draw({ table, rows: table.rows, spec: {}, info: {}, state: { state: "refused", reason, problem: {} } });
  }

  #end() {
    this.ownerDocument.defaultView?.cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#handle?.close();
    this.#handle = null;
  }

  /** Shows a state: in words where there is no value yet, as a description otherwise. */
  mark(element, { state, reason }) {
    element.dataset.state = state;
    element.title = state === "open" ? "" : [state, reason].filter(Boolean).join(": ");
  }
};

/** `<ls-value>`: one field of one item, of its newest event in DISTINCT and RAW mode. An `output` would have screen readers announce each change. */
class LsValue extends LsElement {
  #text = document.createElement("span");

  constructor() {
    super();
    this.shadowRoot.append(this.#text);
  }

  get spec() { return { ...super.spec, items: [this.getAttribute("item")], fields: [this.getAttribute("field")] }; }

  draw({ rows, state }) {
    // A list has the events of the item, the newest one last.
    const fields = Array.isArray(rows) ? rows.at(-1)?.fields : rows.get(this.getAttribute("item"));
    const value = fields?.[this.getAttribute("field")];
    const text = textOf(value ?? (state.state === "open" ? "–" : state.state === "refused" ? "✕" : "…"));
    this.mark(this.#text, state);
    this.#text.classList.toggle("problem", state.state === "refused");
    if (setText(this.#text, text)) flash(this.#text);
  }
}

/** `<ls-table>`: a row for each item, key or event. The columns are the fields. */
class LsTable extends LsElement {
  #table = document.createElement("table");
  #caption = this.#table.createCaption();
  #head = this.#table.createTHead().insertRow();
  #body = this.#table.createTBody();
  #problem = document.createElement("p");
  #lines = new Map();
  #columns = "";

  constructor() {
    super();
    this.#problem.className = "problem";
    this.#problem.setAttribute("role", "status");
    this.shadowRoot.append(this.#table, this.#problem);
  }

  draw({ table, state, spec, info }) {
    this.mark(this.#table, state);
    setText(this.#caption, this.getAttribute("caption") ?? "");
    this.#caption.hidden = !this.hasAttribute("caption");
    const { state: word, reason, problem } = state;
    // The reason may have the cure already, or name the values that were refused.
    const cure = !problem?.errors?.length && !reason?.includes(problem?.cure) && problem?.cure;
    setText(this.#problem, word === "open" || word === "connecting" ? "" : [reason ?? word, cure].filter(Boolean).join(" "));
    const rows = this.#rows(table), isCommand = Boolean(table.items);
    const columns = this.#columnsOf(rows, spec, info).filter(([, name]) => !isCommand || (name !== "key" && name !== "command"));
    const heads = [isCommand ? "key" : "item", ...columns.map(([, name]) => name)];
    const shape = [heads[0], ...columns].join();
    if (this.#columns !== shape) {
      this.#columns = shape;
      this.#lines.clear();
      this.#body.replaceChildren();
      this.#head.replaceChildren(...heads.map((name) => this.#heading(name, "col")));
    }
    this.#update(rows, columns);
  }

  /** The columns as `[key, name]`. Rows have positions for keys where a name occurs twice, or where a level has a schema. */
  #columnsOf(rows, spec, info) {
    const first = spec.fields ?? [], second = spec.commandSecondLevelFields ?? [], names = [...first, ...second];
    const present = () => rows.flatMap(([, , fields]) => Object.keys(fields));
    if (info.fieldKeys !== "position") return [...new Set(names.length ? names : present())].map((name) => [name, name]);
    const positions = Array.from({ length: info.fieldCount + second.length }, (_, index) => String(index + 1));
    return [...new Set([...positions, ...present()])]
      .map((position) => [position, first[position - 1] ?? second[position - 1 - info.fieldCount] ?? position]);
  }

  /** The rows as `[id, heading, fields]`. */
  #rows(table) {
    if (table.items) return [...table.items].flatMap(([item, rows]) => [...rows].map(([key, fields]) => [`${item}\n${key}`, key, fields]));
    if (Array.isArray(table.rows)) return table.rows.slice(-table.bound).reverse().map((row) => [row, row.item ?? String(row.itemPos), row.fields]);
    return [...table.rows].map(([item, fields]) => [item, item, fields]);
  }

  #heading(text, scope) {
    const cell = document.createElement("th");
    cell.scope = scope;
    cell.textContent = text;
    return cell;
  }

  #update(rows, columns) {
    const changed = [], present = new Set(rows.map(([id]) => id));
    for (const [id, line] of this.#lines) {
      if (present.has(id)) continue;
      line.remove();
      this.#lines.delete(id);
    }
    let before = null;
    for (const [id, heading, fields] of rows) {
      let line = this.#lines.get(id);
      const isNew = !line;
      if (isNew) {
        line = document.createElement("tr");
        line.append(this.#heading(heading, "row"), ...columns.map(() => document.createElement("td")));
        this.#lines.set(id, line);
      }
      // Another object has the fields of a row that changed.
      if (line.fields !== fields) columns.forEach(([key], index) => {
        const cell = line.cells[index + 1];
        if (setText(cell, textOf(fields[key])) && !isNew) changed.push(cell);
      });
      line.fields = fields;
      const place = before ? before.nextSibling : this.#body.firstChild;
      if (line !== place) this.#body.insertBefore(line, place);
      before = line;
    }
    if (changed.length <= mostFlashes) changed.forEach(flash);
  }
}

if (!defined) {
  customElements.define("ls-value", LsValue);
  customElements.define("ls-table", LsTable);
}
