// The layout of the page in its URL: the subscriptions that are open beside the presets, the chart, the tab. A link shows the same.
//
//   /?upstream=demo&items=item1&fields=bid#own-1          one subscription
//   /?open=upstream%3Ddemo%26…&open=…&chart=item1/bid#quotes   several, and a chart
//   /#gateway/cgqned6ge8i8in892                           a row of the tab Gateway
//   /#own-2?open=…&open=…                                 a long list, which no request has to have in its line

import { decoded } from "/assets/dom.js";
import { queryOf, specOf } from "/assets/presets.js";

const separator = "/";
const mostInQuery = 4000; // characters; gateways and proxies refuse long request lines

/** The layout that a URL describes: `{specs, key, row, chart}`; `key` is a tab, `row` the id of a row in it. */
export function layoutOf({ search, hash }) {
  const [place, text] = [hash.replace(/\?.*/, ""), hash.match(/\?.*/)?.[0] ?? search];
  const query = new URLSearchParams(text);
  const texts = ["items", "item", "itemGroup"].some((name) => query.has(name)) ? [query]
    : query.getAll("open").map((text) => new URLSearchParams(text));
  const [key, row = null] = decoded(place).split(separator);
  const chart = query.getAll("chart").map((text) => [text.slice(0, text.lastIndexOf(separator)), text.slice(text.lastIndexOf(separator) + 1)]);
  return { specs: texts.map(specOf), key: key || (texts.length ? "own-1" : null), row, chart };
}

/** The URL of a layout. */
export function urlOf({ specs, key, row = null, chart = [] }) {
  const query = new URLSearchParams(specs.length === 1 ? queryOf(specs[0]) : "");
  if (specs.length > 1) for (const spec of specs) query.append("open", queryOf(spec));
  for (const [id, field] of chart) query.append("chart", id + separator + field);
  const text = query.toString().replaceAll("%2C", ",");
  const place = `#${key}${row ? separator + row : ""}`, list = text ? `?${text}` : "";
  return location.pathname + (list.length > mostInQuery ? place + list : list + place);
}

/** A link to a row of the tab Gateway. */
export const rowLink = (id) => `#gateway${separator}${id}`;
