// Subscriptions that fit the demo's adapters, and those that a link or the form describes.

const quoteFields = ["stock_name", "last_price", "pct_change", "bid", "ask", "min", "max"];
const demoAdapterSet = "DEMO";
const quoteCount = 12;

/** The presets for the first upstream that has the demo's adapters; an empty list if there is no such upstream. */
export function presets(upstreams) {
  const upstream = upstreams.find((candidate) => candidate.adapterSet === demoAdapterSet)?.name;
  if (!upstream) return [];
  return [
    {
      key: "quotes", title: "Quotes", chart: ["item1", "last_price"],
      note: "MERGE: the latest value of each field. Select a number to see its chart.",
      spec: {
        upstream, mode: "MERGE", dataAdapter: "QUOTE_ADAPTER", fields: quoteFields,
        items: Array.from({ length: quoteCount }, (_, index) => `item${index + 1}`),
      },
    },
    {
      key: "portfolio", title: "Portfolio",
      note: "COMMAND in two levels: each key of the portfolio is an item of the quotes; a DELETE removes its row.",
      spec: {
        upstream, mode: "COMMAND", dataAdapter: "PORTFOLIO_ADAPTER", items: ["portfolio1"],
        fields: ["key", "command", "qty"],
        commandSecondLevelFields: ["stock_name", "last_price", "pct_change", "time"],
        commandSecondLevelDataAdapter: "QUOTE_ADAPTER",
      },
    },
    {
      key: "chat", title: "Chat", chat: true, isNewestLast: true, times: ["raw_timestamp"],
      note: "DISTINCT: each update is an event of its own. Messages are sent through the session of this page.",
      spec: {
        upstream, mode: "DISTINCT", dataAdapter: "CHAT_ROOM", items: ["chat_room"],
        fields: ["raw_timestamp", "message", "IP"], requestedSnapshot: "yes",
      },
    },
    {
      key: "raw", title: "Raw",
      note: "RAW: every event as the adapter produces it, without snapshot and without filter.",
      spec: {
        upstream, mode: "RAW", dataAdapter: "RAW_FEED", items: ["raw1", "raw2", "raw3"],
        fields: ["number", "time", "text"],
      },
    },
  ];
}

const lists = ["items", "fields", "commandSecondLevelFields"];
/** The parameters for one name of a list each: it may have commas. */
const singles = { items: "item", fields: "field" };
const words = [
  "upstream", "feed", "mode", "itemGroup", "fieldSchema", "dataAdapter", "selector", "requestedSnapshot", "requestedMaxFrequency",
  "requestedBufferSize", "commandSecondLevelFieldSchema", "commandSecondLevelDataAdapter",
];

const split = (text) => text.split(/[\s,]+/).filter(Boolean);

/** A subscription from the members of a form or of a query; empty ones are left out. */
export function specOf(values) {
  const spec = {};
  for (const name of words) {
    const value = (values.get(name) ?? "").trim();
    if (value) spec[name] = value;
  }
  for (const name of lists) {
    const value = [...split(values.get(name) ?? ""), ...values.getAll(singles[name] ?? "")];
    if (value.length) spec[name] = value;
  }
  if (spec.mode) spec.mode = spec.mode.toUpperCase();
  if (spec.mode !== "COMMAND") {
    delete spec.commandSecondLevelFields;
    delete spec.commandSecondLevelDataAdapter;
  }
  if (spec.mode === "RAW") delete spec.requestedSnapshot;
  return spec;
}

export const hasCommas = (names) => names.some((name) => name.includes(","));

/** The parameters that describe a subscription, as `GET /v1/stream` and this page read them: `[name, value]`. */
export const parametersOf = (spec) => Object.entries(spec).flatMap(([name, value]) => {
  if (!Array.isArray(value)) return [[name, value]];
  return singles[name] && hasCommas(value) ? value.map((one) => [singles[name], one]) : [[name, value.join(",")]];
});

/** The same as the query of a URL. */
export const queryOf = (spec) => new URLSearchParams(parametersOf(spec)).toString().replaceAll("%2C", ",");

/** The text of a subscription: that of an equal one, also where an address has given it, as texts in an order of its own. */
export const textOf = (spec) => queryOf(specOf(new URLSearchParams(queryOf({ mode: "MERGE", ...spec }))));
