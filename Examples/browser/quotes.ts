// Types of the module: the rows of a feed, the states, an iterator. Compiled by `tsc --strict`.

import { connect, type Fields, type State } from "lightstreamer-gateway";

declare module "lightstreamer-gateway" {
  interface Feeds {
    quotes: { name: string; last_price: number };
  }
}

function words(state: State): string {
  switch (state.state) {
    case "reconnecting": return `${state.reason} Next attempt at ${new Date(state.nextAt).toISOString()}.`;
    case "refused": return `${state.problem.title ?? "Refused"}. ${state.problem.cure ?? ""}`;
    case "waiting": case "stale": return state.reason;
    default: return state.state;
  }
}

const gateway = connect("https://gateway.example.com", { token: async () => "key", hidden: { maxFrequency: 1 } });

const portfolio = gateway.subscribe(
  { upstream: "demo", mode: "COMMAND", items: ["portfolio1"], fields: ["key", "command", "qty"], dataAdapter: "PORTFOLIO_ADAPTER" },
  { change: (table) => console.log(table.items.size), state: (state) => console.log(words(state)) },
);
const row: Fields | undefined = portfolio.rows.get("item4");

async function prices(): Promise<void> {
  for await (const { fields } of gateway.subscribe({ feed: "quotes", mode: "MERGE" })) {
    const price: number | undefined = fields.last_price;
    console.log(price?.toFixed(2));
  }
}

console.log(row?.qty);
await prices();
