// Follows a stream of the gateway from any page: a new ticket for each connection, resume, back-off, pagehide.
//
//   import { follow, CommandTable } from "https://gateway.example.com/assets/gateway.js";
//   const stop = follow("https://gateway.example.com", { upstream: "demo", mode: "MERGE", items: "item1",
//     fields: "last_price" }, { token: () => key, update: ({ item, fields }) => …, state: (word) => …,
//     problem: ({ detail }) => … });

const names = [
  "stream", "status", "server-error", "property", "subscribed", "unsubscribed", "update", "end-of-snapshot",
  "clear-snapshot", "lost-updates", "subscription-error", "second-level-error", "second-level-lost-updates",
  "real-max-frequency", "message-outcome", "closing",
];

// Statuses after which another attempt has the same result.
const finalStatuses = [400, 403, 404, 422];

/**
 * Opens `GET /v1/stream` with a query. `on` has a function for each event name and, all optional, `token` (gives the key or
 * token), `state` (receives open, reconnecting or refused) and `problem` (receives the problem details of a refusal).
 */
export function follow(gateway, query, on) {
  let source = null, lastEventId = null, attempts = 0, timer = 0, generation = 0;

  async function open() {
    const own = ++generation;
    const url = await address().catch(() => null);
    if (own !== generation) return;
    if (!url) return retry();
    let wasOpen = false;
    source = new EventSource(url);
    source.onopen = () => { wasOpen = true; attempts = 0; on.state?.("open"); };
    source.onerror = () => (wasOpen ? retry() : explain());
    for (const name of names) source.addEventListener(name, (event) => {
      if (event.lastEventId) lastEventId = event.lastEventId;
      on[name]?.(JSON.parse(event.data));
    });
  }

  async function address() {
    const url = new URL("/v1/stream", gateway);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (lastEventId) url.searchParams.set("lastEventId", lastEventId);
    const token = await on.token?.();
    if (token) url.searchParams.set("ticket", await ticket(token));
    return url;
  }

  async function ticket(token) {
    const response = await fetch(new URL("/v1/tickets", gateway),
      { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) await report(response);
    return (await response.json()).ticket;
  }

  async function report(response) {
    const problem = await response.json().catch(() => ({ status: response.status }));
    on.problem?.(problem);
    throw problem;
  }

  /** An `EventSource` does not report why it was refused; the response to a `fetch` of the same address does. */
  async function explain() {
    close();
    const own = generation;
    const abort = new AbortController();
    try {
      const response = await fetch(await address(), { signal: abort.signal });
      if (!response.ok) await report(response);
      abort.abort();
      if (own === generation) retry();
    } catch (problem) {
      if (own !== generation) return;
      if (finalStatuses.includes(problem.status)) on.state?.("refused");
      else retry();
    }
  }

  function retry() {
    close();
    on.state?.("reconnecting");
    timer = setTimeout(open, Math.min(30_000, 500 * 2 ** attempts++) * (0.5 + Math.random() / 2));
  }

  function close() {
    generation += 1;
    clearTimeout(timer);
    source?.close();
    source = null;
  }

  const show = (event) => { if (event.persisted) open(); };
  addEventListener("pagehide", close);
  addEventListener("pageshow", show);
  open();
  return () => { close(); removeEventListener("pagehide", close); removeEventListener("pageshow", show); };
}

/**
 * The rows of a COMMAND subscription by key: pass `take` each `update`; `clear` at `subscribed`, `unsubscribed` and
 * `clear-snapshot`, and at a `stream` event whose `resume` is not `resumed`.
 */
export class CommandTable {
  rows = new Map();

  take({ key, command, fields }) {
    if (command === "DELETE") this.rows.delete(key);
    else this.rows.set(key, { ...this.rows.get(key), ...fields });
  }

  clear() { this.rows.clear(); }
}
