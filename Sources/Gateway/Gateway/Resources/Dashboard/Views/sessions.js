// The Gateway tab: upstreams with their quotas, clients, subscriptions, streams, members, callers.

import { get, list, post, remove } from "/assets/api.js";
import { clock, count, duration, h, plural, setText, whileShown } from "/assets/dom.js";
import { cutText, endButton, keep, rowId, setOptional, showLinks, tableCard } from "/assets/lists.js";
import { CallersTable, MembersTable } from "/assets/members.js";
import { OptionsForm } from "/assets/options.js";
import { rights } from "/assets/rights.js";
import { SubscriptionsTable } from "/assets/subscriptions.js";

const interval = 3000;
// The socket name of the embedded demo server, which accepts scripts of faults as messages.
const demoSocketName = "Embedded demo server";

const faults = [
  { label: "Cut the connection", script: "drop", title: "The connection is cut; the gateway recovers the session." },
  { label: "Stall for 12 s", script: "stall ms=12000", title: "The server is silent; the session stalls and recovers." },
  { label: "Restart the server", script: "refuse-recovery;drop",
    title: "The connection is cut and the session forgotten; the gateway opens a new session and subscribes again." },
];

const statusSymbol = (status) => {
  if (status.startsWith("CONNECTED:")) return "●";
  if (status === "STALLED") return "◐";
  return status === "DISCONNECTED" ? "✕" : "↻";
};
const statusKind = (status) => {
  if (status.startsWith("CONNECTED:")) return "good";
  return status === "DISCONNECTED" ? "bad" : "warning";
};

function bar(label) {
  const fill = h("span", { class: "bar-fill" });
  const meter = h("span", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": "0" }, fill);
  const text = h("span", { class: "bar-text" });
  return {
    element: h("div", { class: "quota" }, h("span", { class: "bar-label" }, label), meter, text),
    show(used, most) {
      meter.setAttribute("aria-valuenow", String(used));
      meter.setAttribute("aria-valuemax", String(most));
      const share = most ? used / most : 0;
      fill.style.width = `${Math.min(100, Math.max(used ? 1.5 : 0, share * 100))}%`;
      meter.dataset.level = share >= 0.95 ? "bad" : share >= 0.75 ? "warning" : "good";
      setText(text, `${count(used)} of ${count(most)}`);
    },
  };
}

export class Sessions {
  #upstreams = h("div", { class: "upstreams" });
  #clients = h("tbody");
  #streams = h("tbody");
  #problem = h("p", { class: "problem", role: "alert", hidden: true });
  #cut = h("p", { class: "note" });
  #members = new MembersTable();
  #callers = new CallersTable();
  #subscriptions;
  #page;
  /** The response of `/health` that was read last. */
  health = null;
  /** Reads the lists at intervals while the tab is shown. */
  show = whileShown(() => this.read(), interval);

  /**
   * `page.streamId()` is the id of the stream of this page; `page.note(kind, text)` adds a line to the events; `page.open(spec)`
   * shows a subscription.
   */
  constructor(element, page) {
    this.#page = { ...page, read: () => this.read(), fail: (error) => this.#fail(error) };
    this.#subscriptions = new SubscriptionsTable(this.#page);
    element.append(this.#problem, this.#cut,
      h("div", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Upstreams")), this.#upstreams),
      tableCard("Clients", "Clients: sessions with upstreams", [["client"], ["upstream"], ["status"], ["subscriptions"],
        ["updates", "number"], ["reconnects", "number"], ["actions", "actions"]], this.#clients),
      this.#subscriptions.element,
      tableCard("Streams", "Streams: readers of this gateway", [["stream"], ["reader"], ["open"], ["sources"], ["lag", "number"],
        ["delivered", "number"], ["conflated", "number"], ["dropped", "number"], ["actions", "actions"]], this.#streams),
      this.#members.element, this.#callers.element);
  }

  async read() {
    try {
      const [health, upstreams, clients, streams, subscriptions] = await Promise.all([
        get("/health"), list("/v1/upstreams", "upstreams"), list("/v1/clients", "clients"), list("/v1/streams", "streams"),
        list("/v1/subscriptions", "subscriptions"), rights.read(),
      ]);
      this.health = health;
      this.#problem.hidden = true;
      setText(this.#cut, cutText({ upstreams, clients, streams, subscriptions }));
      this.#subscriptions.show(subscriptions, streams);
      this.#members.show(health.cluster);
      this.#callers.show(health.cluster);
      this.#showUpstreams(upstreams, health, clients);
      this.#showClients(clients);
      this.#showStreams(streams);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error) {
    this.#problem.hidden = false;
    setText(this.#problem, error.message);
  }

  /** Shows a row, once it is there, and gives it the focus. */
  async reveal(id) {
    await this.read();
    const row = document.getElementById(rowId(id));
    row?.scrollIntoView({ block: "center" });
    row?.focus({ preventScroll: true });
  }

  // MARK: - Upstreams

  #showUpstreams(upstreams, health, clients) {
    keep(this.#upstreams, upstreams, (upstream) => upstream.name, (upstream) => this.#makeUpstream(upstream),
      (view, upstream) => {
        const { sessions = 0, connected = 0 } = health.upstreams.find(({ name }) => name === upstream.name) ?? {};
        const state = sessions === 0 ? "idle: no session is needed" : connected ? "● connected" : "✕ not connected";
        setText(view.state, state);
        view.state.dataset.kind = sessions === 0 ? "idle" : connected ? "good" : "bad";
        view.bars.sessions.show(upstream.pool.sessions, upstream.quotas.sessions);
        view.bars.subscriptions.show(upstream.pool.subscriptions, upstream.quotas.subscriptions);
        view.bars.items.show(upstream.pool.items, upstream.quotas.items);
        view.client = clients.find((client) =>
          client.upstream === upstream.name && client.serverSocketName === demoSocketName)?.id ?? null;
        setText(view.address, `${upstream.serverAddress}, adapter set ${upstream.adapterSet ?? "by default"}`
          + (upstream.user ? `, user ${upstream.user}` : ""));
        view.faults.hidden = !view.client || view.isRefused || !rights.may("send");
        showFailure(view.failure, upstream.lastFailure);
      });
  }

  #makeUpstream(upstream) {
    const bars = { sessions: bar("Sessions"), subscriptions: bar("Subscriptions"), items: bar("Items") };
    const view = { bars, failure: h("p", { class: "problem", hidden: true }), state: h("span", { class: "state" }),
      address: h("p", { class: "note" }), client: null, isRefused: false };
    const outcome = h("span", { class: "note", role: "status" });
    view.faults = h("div", { class: "faults row", hidden: true, role: "group", "aria-label": "Faults of the demo server" },
      h("span", { class: "note" }, "Try the recovery:"),
      faults.map((fault) => h("button", {
        type: "button", class: "small", title: fault.title, onclick: () => this.#strike(view, fault, outcome),
      }, fault.label)), outcome);
    view.elements = [h("article", { class: "upstream", "aria-label": `Upstream ${upstream.name}` },
      h("div", { class: "row" }, h("h3", {}, upstream.name), view.state),
      view.address, view.failure, Object.values(bars).map(({ element }) => element), view.faults)];
    return view;
  }

  async #strike(view, fault, outcome) {
    try {
      const answer = await post(`/v1/clients/${view.client}/messages`, { text: `FAULT|${fault.script}` },
        { headers: { Prefer: "wait=2" } });
      view.isRefused = answer.outcome === "denied";
      setText(outcome, view.isRefused ? `✗ ${answer.error}` : `✓ ${fault.title}`);
      this.#page.note("page", `${fault.label}: ${view.isRefused ? answer.error : fault.title}`);
    } catch (error) {
      setText(outcome, `✗ ${error.message}`);
    }
  }

  // MARK: - Clients

  #showClients(clients) {
    keep(this.#clients, clients, (client) => client.id, (client) => this.#makeClient(client), (view, client) => {
      setText(view.status, `${statusSymbol(client.status)} ${client.status}`);
      view.status.dataset.kind = statusKind(client.status);
      view.status.title = client.lastFailure?.detail ?? "";
      view.button.hidden = !(client.dedicated ? rights.may("manage") : rights.controlsAll);
      showLinks(view.subscriptions, client.subscriptions);
      setText(view.updates, count(client.counters.updates));
      setText(view.reconnects, count(client.counters.reconnects));
    });
    this.#clients.dataset.empty = clients.length ? "" : "No client is connected.";
  }

  #makeClient(client) {
    const status = h("span", { class: "state" });
    const subscriptions = h("td");
    const [updates, reconnects] = ["", ""].map(() => h("td", { class: "number" }));
    const form = new OptionsForm(client.id);
    const button = h("button", { type: "button", class: "small", "aria-expanded": "false" }, "Options");
    const kind = h("span", { class: "note" }, client.dedicated ? " dedicated" : " pooled");
    const line = h("tr", { id: rowId(client.id), tabIndex: -1 }, h("th", { scope: "row" }, client.id, kind),
      h("td", {}, client.upstream ?? "by address"), h("td", {}, status), subscriptions, updates, reconnects,
      h("td", { class: "actions" }, button));
    const more = h("tr", { class: "more", hidden: true }, h("td", { colSpan: 7 }, form.element));
    button.addEventListener("click", () => {
      more.hidden = !more.hidden;
      button.setAttribute("aria-expanded", String(!more.hidden));
      if (!more.hidden) form.read();
    });
    return { elements: [line, more], status, subscriptions, updates, reconnects, button };
  }

  // MARK: - Streams

  #showStreams(streams) {
    keep(this.#streams, streams, (stream) => stream.id, (stream) => this.#makeStream(stream), (view, stream) => {
      const isOwn = stream.id === this.#page.streamId();
      setText(view.name, isOwn ? `${stream.id} (this page)` : stream.id);
      setOptional(view.peer, stream.peer);
      setText(view.open, stream.open ? `● ${stream.format}, ${duration(stream.age)}` : "○ waits for its reader");
      showLinks(view.sources, stream.sources.map(({ subscription }) => subscription).filter(Boolean), 2);
      view.end.hidden = !rights.may("subscribe");
      for (const name of ["lag", "delivered", "conflated", "dropped"]) setText(view[name], count(stream[name]));
      view.lag.classList.toggle("warning", stream.lag > 100);
      view.dropped.classList.toggle("bad", stream.dropped > 0);
    });
    this.#streams.dataset.empty = streams.length ? "" : "No stream is open.";
  }

  #makeStream(stream) {
    const view = { name: h("th", { scope: "row" }), peer: h("td"), open: h("td"), sources: h("td") };
    for (const name of ["lag", "delivered", "conflated", "dropped"]) view[name] = h("td", { class: "number" });
    view.end = endButton(`End stream ${stream.id}`, this.#page, () => remove(`/v1/streams/${stream.id}`));
    view.elements = [h("tr", { id: rowId(stream.id), tabIndex: -1, data: { stream: stream.id } },
      view.name, view.peer, view.open, view.sources, view.lag,
      view.delivered, view.conflated, view.dropped, h("td", { class: "actions" }, view.end))];
    return view;
  }
}

/** Why there is no connection. */
function showFailure(element, failure) {
  element.hidden = !failure;
  if (!failure) return;
  const next = failure.nextAttempt ? `, next one at ${clock(failure.nextAttempt)}` : "";
  setText(element, `✗ ${failure.detail} (${plural(failure.attempts, "attempt")} since ${clock(failure.since)}${next})`);
}
