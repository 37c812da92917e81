// A client in TypeScript on the declarations that a gateway generates from its feeds (/assets/feeds.d.ts): reads a typed
// row and ten typed events. Compiled by `tsc --strict`, run by node.

import type { FeedRows, FeedUpdate } from "./feeds";

declare const process: { argv: string[] };

type Event<Feed extends keyof FeedRows> = { event: string; id?: string; data: FeedUpdate<FeedRows[Feed]> };

const address = process.argv[2] ?? "";

async function read<Feed extends keyof FeedRows>(feed: Feed, item: string): Promise<FeedRows[Feed]> {
  const response = await fetch(`${address}/feeds/${feed}/${item}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as FeedRows[Feed];
}

async function* events<Feed extends keyof FeedRows>(feed: Feed): AsyncGenerator<Event<Feed>> {
  const response = await fetch(`${address}/v1/stream?feed=${feed}&format=ndjson`);
  if (!response.ok || !response.body) throw new Error(await response.text());
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line);
    }
  } finally {
    await reader.cancel();
  }
}

function number(value: number | string | null | undefined): number {
  if (typeof value !== "number") throw new Error(`${value} is no number`);
  return value;
}

async function main(): Promise<void> {
  const row = await read("quotes", "item1");
  console.log(row.stock_name, number(row.last_price).toFixed(2));
  let count = 0;
  for await (const { event, data } of events("quotes")) {
    if (event !== "update") continue;
    if (data.fields.last_price !== undefined) number(data.fields.last_price);
    count += 1;
    if (count === 10) break;
  }
  console.log(count, "events");
}

main();
