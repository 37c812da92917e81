// Types of the hooks and elements, as components use them. Compiled by `tsc --strict`.

import { connect, type Fields, type Handle, type Spec, type State } from "lightstreamer-gateway";
import { LsElement } from "lightstreamer-gateway/elements";
import { hooks, type ReactLike } from "lightstreamer-gateway/react";

declare module "lightstreamer-gateway" {
  interface Feeds {
    quotes: { name: string; last_price: number };
  }
}

declare const react: ReactLike;

const gateway = connect("https://gateway.example.com");
const { useSubscription, useValue } = hooks(react);

/** A component that shows a portfolio once one is selected. */
export function portfolio(item: string | null): string {
  const { state, rows } = useSubscription(
    gateway, item ? { upstream: "demo", mode: "COMMAND", items: [item], fields: ["key", "command", "qty"] } : null,
  );
  const text: State["state"] = state.state;
  return `${text}: ${[...rows].map(([key, row]) => `${key} ${row.qty}`).join()}`;
}

const price: number | undefined = useValue(gateway, { feed: "quotes", item: "item1", field: "last_price" });
const plain: string | null | undefined = useValue(gateway, { item: "item1", field: "last_price", requestedMaxFrequency: 1 });
const other: string | null | undefined = useValue(gateway, { feed: "others", item: "item1", field: "last_price" });

// Without a mode it is MERGE. Another source may have members that the first one has not.
const quotes = gateway.subscribe({ items: "item1,item2", fields: "bid" });
const row: Fields | undefined = quotes.rows.get("item1");
quotes.change({ upstream: "demo", items: ["item3"], fields: ["bid", "ask"], selector: null });
// @ts-expect-error: the table would be another one.
quotes.change({ mode: "COMMAND", items: ["portfolio1"], fields: ["key", "command"] });
const feed = gateway.subscribe({ feed: "quotes", mode: "MERGE" });
feed.change({ feed: "quotes", mode: "MERGE", items: ["item1"] });
const handles: Handle<Spec>[] = [quotes, feed];

LsElement.connection = (url) => connect(url, { token: () => "key" });
console.log(price?.toFixed(2), plain, other, row?.bid, handles.length);
