// Follows a stream of the gateway from any page: a new ticket for each connection, resume, back-off, pagehide.
//
//   import { follow, CommandTable } from "https://gateway.example.com/assets/gateway.js";
//   const stop = follow("https://gateway.example.com", { upstream: "demo", mode: "MERGE", items: "item1",
//     fields: "last_price" }, { token: () => key, update: ({ item, fields }) => …, state: (word) => … });

const names = [
  "stream", "status", "server-error", "subscribed", "unsubscribed", "update", "end-of-snapshot", "clear-snapshot",
  "lost-updates", "subscription-error", "second-level-error", "real-max-frequency", "message-outcome", "closing",
];

/** Opens `GET /v1/stream` with a query; `on` has a function for each event name, `state` and `token` (both optional). */
export function follow(gateway, query, on) {
  let source = null, lastEventId = null, attempts = 0, timer = 0, generation = 0;

  async function open() {
    const own = ++generation;
    const url = new URL("/v1/stream", gateway);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (lastEventId) url.searchParams.set("lastEventId", lastEventId);
    try {
      const token = await on.token?.();
      if (token) url.searchParams.set("ticket", await ticket(token));
    } catch { if (own === generation) retry(); return; }
    if (own !== generation) return;
    source = new EventSource(url);
    source.onopen = () => { attempts = 0; on.state?.("open"); };
    source.onerror = retry;
    for (const name of names) source.addEventListener(name, (event) => {
      if (event.lastEventId) lastEventId = event.lastEventId;
      on[name]?.(JSON.parse(event.data));
    });
  }

  async function ticket(token) {
    const response = await fetch(new URL("/v1/tickets", gateway),
      { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`No ticket: status ${response.status}`);
    return (await response.json()).ticket;
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

/** The rows of a COMMAND subscription by key: pass `take` each `update`, `clear` each `clear-snapshot` and `subscribed`. */
export class CommandTable {
  rows = new Map();

  take({ key, command, fields }) {
    if (command === "DELETE") this.rows.delete(key);
    else this.rows.set(key, { ...this.rows.get(key), ...fields });
  }

  clear() { this.rows.clear(); }
}
