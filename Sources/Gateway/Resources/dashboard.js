// The dashboard: one EventSource on /v1/stream, a table that flashes on change, and a log of events.
"use strict";

const form = document.getElementById("form");
const table = document.getElementById("table");
const log = document.getElementById("log");
const badge = document.getElementById("status");
const figures = document.getElementById("figures");
const problem = document.getElementById("problem");
const stopButton = document.getElementById("stop");

const logLimit = 200;
const rowLimit = 200;
const example = {
  upstream: "demo", mode: "MERGE", items: "item1,item2,item3,item4,item5",
  fields: "stock_name,last_price,time,pct_change,bid,ask", dataAdapter: "", maxFrequency: "",
};

let source = null;
let rows = new Map();
let columns = [];
let mode = "MERGE";
let updates = 0;
let distinctSerial = 0;

function streamURL() {
  const values = new FormData(form);
  const query = new URLSearchParams();
  for (const name of ["upstream", "mode", "items", "fields", "dataAdapter", "maxFrequency"]) {
    const value = String(values.get(name) ?? "").trim();
    if (value) query.set(name, value);
  }
  return "/v1/stream?" + query;
}

function showStatus(text, kind) {
  badge.textContent = text;
  badge.dataset.status = kind;
}

function statusKind(status) {
  if (status.startsWith("CONNECTED:")) return "good";
  return status === "DISCONNECTED" ? "bad" : "warn";
}

function record(name, detail) {
  const line = document.createElement("li");
  const time = document.createElement("time");
  time.textContent = new Date().toLocaleTimeString() + " ";
  const title = document.createElement("b");
  title.textContent = name + " ";
  line.append(time, title, detail);
  log.prepend(line);
  while (log.children.length > logLimit) log.lastElementChild.remove();
}

function drawHead() {
  const line = document.createElement("tr");
  for (const name of ["item", ...columns]) {
    const cell = document.createElement("th");
    cell.textContent = name;
    line.append(cell);
  }
  table.tHead.replaceChildren(line);
}

function addRow(id, title) {
  const line = document.createElement("tr");
  line.dataset.row = id;
  const head = document.createElement("td");
  head.textContent = title;
  line.append(head);
  const cells = new Map();
  for (const name of columns) {
    const cell = document.createElement("td");
    cell.dataset.field = name;
    cells.set(name, cell);
    line.append(cell);
  }
  if (mode === "DISTINCT" || mode === "RAW") {
    table.tBodies[0].prepend(line);
    if (rows.size >= rowLimit) removeRow(rows.keys().next().value);
  } else {
    table.tBodies[0].append(line);
  }
  const row = { line, cells, values: {} };
  rows.set(id, row);
  return row;
}

function removeRow(id) {
  rows.get(id)?.line.remove();
  rows.delete(id);
}

function setValue(row, name, value) {
  const cell = row.cells.get(name);
  if (!cell) return;
  const before = row.values[name];
  row.values[name] = value;
  cell.textContent = value ?? "";
  if (before === value) return;
  cell.classList.remove("flash", "up", "down");
  void cell.offsetWidth;  // Makes the browser start the animation anew.
  const difference = Number(value) - Number(before);
  cell.classList.add("flash");
  if (difference > 0) cell.classList.add("up");
  if (difference < 0) cell.classList.add("down");
}

function applyUpdate(update) {
  const item = update.item ?? String(update.itemPos);
  let id = item;
  let title = item;
  if (mode === "COMMAND") {
    id = item + "/" + update.key;
    if (update.command === "DELETE") return removeRow(id);
  } else if (mode !== "MERGE") {
    distinctSerial += 1;
    id = item + "#" + distinctSerial;
  }
  const names = Object.keys(update.fields);
  const unseen = names.filter((name) => !columns.includes(name));
  if (unseen.length) extendColumns(unseen);
  const row = rows.get(id) ?? addRow(id, title);
  for (const name of names) setValue(row, name, update.fields[name]);
}

function extendColumns(names) {
  columns = [...columns, ...names];
  drawHead();
  for (const row of rows.values()) {
    for (const name of names) {
      const cell = document.createElement("td");
      cell.dataset.field = name;
      row.cells.set(name, cell);
      row.line.append(cell);
    }
  }
}

function clearItem(item) {
  for (const id of [...rows.keys()]) {
    if (id === item || id.startsWith(item + "/") || id.startsWith(item + "#")) removeRow(id);
  }
}

const handlers = {
  "stream": (data) => {
    for (const entry of data.sources) if (entry.status) showStatus(entry.status, statusKind(entry.status));
    if (data.resume === "gap") for (const id of [...rows.keys()]) removeRow(id);
  },
  "status": (data) => showStatus(data.status, statusKind(data.status)),
  "subscribed": () => { for (const id of [...rows.keys()]) removeRow(id); },
  "unsubscribed": () => { for (const row of rows.values()) row.line.classList.add("stale"); },
  "clear-snapshot": (data) => clearItem(data.item ?? String(data.itemPos)),
  "closing": (data) => showStatus("closing: " + data.reason, "warn"),
};
const others = [
  "server-error", "property", "end-of-snapshot", "lost-updates", "subscription-error", "second-level-error",
  "second-level-lost-updates", "real-max-frequency", "message-outcome",
];

async function explainFailure(url) {
  // EventSource does not show an error's body, so ask again as an ordinary request.
  try {
    const stop = new AbortController();
    const answer = await fetch(url, { signal: stop.signal });
    if (answer.ok) return stop.abort();
    const body = await answer.json();
    problem.textContent = body.detail ?? body.title ?? answer.statusText;
    for (const error of body.errors ?? []) problem.textContent += ` — ${error.detail ?? ""}`;
    problem.hidden = false;
  } catch { /* The gateway is away; the badge says so already. */ }
}

function start() {
  stop();
  const url = streamURL();
  mode = new FormData(form).get("mode");
  columns = String(new FormData(form).get("fields")).split(",").map((name) => name.trim()).filter(Boolean);
  rows = new Map();
  updates = 0;
  table.tBodies[0].replaceChildren();
  drawHead();
  problem.hidden = true;
  document.getElementById("curl").textContent = `curl -N '${location.origin}${url.replaceAll("%2C", ",")}'`;
  showStatus("opening", "warn");
  source = new EventSource(url);
  stopButton.disabled = false;
  source.onerror = () => {
    if (source?.readyState === EventSource.CLOSED) {
      showStatus("refused", "bad");
      explainFailure(url);
    } else {
      showStatus("reconnecting", "warn");
    }
  };
  source.addEventListener("update", (event) => {
    updates += 1;
    applyUpdate(JSON.parse(event.data));
  });
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => {
      handle(JSON.parse(event.data));
      record(name, event.data);
    });
  }
  for (const name of others) source.addEventListener(name, (event) => record(name, event.data));
  history.replaceState(null, "", "?" + url.split("?")[1]);
}

function stop() {
  source?.close();
  source = null;
  stopButton.disabled = true;
  showStatus("not connected", "none");
}

async function fillForm() {
  const asked = new URLSearchParams(location.search);
  const values = { ...example, ...Object.fromEntries(asked) };
  try {
    const answer = await fetch("/v1/upstreams");
    const names = (await answer.json()).upstreams.map((upstream) => upstream.name);
    document.getElementById("upstreams").replaceChildren(...names.map((name) => new Option(name)));
    if (!asked.has("upstream") && names.length && !names.includes(values.upstream)) values.upstream = names[0];
  } catch { /* The list is a convenience. */ }
  for (const [name, value] of Object.entries(values)) if (form.elements[name]) form.elements[name].value = value;
}

form.addEventListener("submit", (event) => { event.preventDefault(); start(); });
stopButton.addEventListener("click", stop);
setInterval(() => {
  figures.textContent = source ? `${updates} updates` : "";
}, 500);
fillForm().then(start);
