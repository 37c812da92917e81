"""The table of the page Performance, made from what all benchmarks found."""

import os
import re

from processes import PRODUCT
from results import table

PAGE = os.path.join(PRODUCT, "Sources/Gateway/Documentation/Guides/Performance.md")
MARKS = re.compile(r"(<!-- benchmarks -->\n).*?(<!-- /benchmarks -->\n)", re.DOTALL)
HEADS = ["measurement", "gateway", "nchan", "baseline"]
BARE = "bare = 1"


# The benchmark of a row, its first cell, and the other cells made from what the benchmark found. Gateway and nchan are
# ratios to the baseline, unless a unit is given.
ROWS = [
    ("fan-out", "CPU per delivered event, 1,000 streams × 20/s",
     lambda fan_out: [*both(fan_out[1000, 20], "cost"), BARE]),
    ("fan-out", "99th percentile of its latency", lambda fan_out: [*both(fan_out[1000, 20], "p99"), BARE]),
    ("fan-out", "CPU per delivered event, 10,000 streams × 2/s",
     lambda fan_out: [*both(fan_out[10000, 2], "cost"), BARE]),
    ("fan-out", "events delivered of 1,000 streams × 1,000/s",
     lambda fan_out: [*both(fan_out[1000, 1000], "delivered", "{:.0%}"),
                      f"bare: {fan_out[1000, 1000]['bare']['delivered']:.0%}"]),
    ("fan-out", "CPU per delivered event there", lambda fan_out: [*both(fan_out[1000, 1000], "cost"), BARE]),
    ("fan-out", "99th percentile there", lambda fan_out: [*both(fan_out[1000, 1000], "p99"), BARE]),
    ("fan-out", "5,000 streams × 1,000/s: events delivered, 99th percentile",
     lambda fan_out: [f"{fan_out[5000, 1000]['gateway']['delivered']:.0%}, {fan_out[5000, 1000]['gateway']['delay']:.0f} ms",
                      "", f"bare: {fan_out[5000, 1000]['bare']['delivered']:.0%}, {fan_out[5000, 1000]['bare']['delay']:.0f} ms"]),
    ("sparse", "events for one stream of 100 / 10,000: CPU",
     lambda sparse: [f"{sparse[100, 2000]:.1f} / {sparse[10000, 2000]:.1f}", "", BARE]),
    ("multiplexed", "ten subscriptions on one stream, spread / 20 events at once: CPU",
     lambda found: [f"{found['10 subscriptions']:.2f} / {found['10 subscriptions, 20 events at once']:.2f}", "",
                    "one item on one stream = 1"]),
    ("threads", "two threads on two cores, 1,000 streams × 100/s: events/s",
     lambda threads: [f"{threads['1,000 × 100/s']:.1f}", "", "one thread = 1"]),
    ("publish", "CPU per published event, 10,000 topics",
     lambda publish: [f"{publish['10,000 topics']['cost']:.1f}", "", "one topic = 1"]),
    ("publish", "CPU per published event, one topic of 100,000 items",
     lambda publish: [f"{publish['1 topic of 100,000 items']['cost']:.1f}", "", "one item = 1"]),
    ("publish", "memory of a topic with one item, of a further item",
     lambda publish: [", ".join(f"{publish[case]['kib']:.1f} KiB" for case in (
         "10,000 topics", "1 topic of 100,000 items")), "", ""]),
    ("typed", "events with typed values, 1 × 5,000/s / 1,000 × 20/s: CPU",
     lambda typed: [" / ".join(f"{typed[case, 'typed']:.2f}" for case in ("1 × 5,000/s", "1,000 × 20/s")), "", "text = 1"]),
    ("compression", "events with gzip, 1,000 × 20/s: CPU over TCP / TLS 1.3; bytes of an event of the quotes, plain / gzip",
     lambda found: [f"{found['TCP', 'gzip']:.2f} / {found['TLS 1.3', 'gzip']:.2f}; {found['bytes', 'plain']:.0f} / "
                    f"{found['bytes', 'gzip']:.0f}", "", "without gzip = 1"]),
    ("rest", "CPU per REST request: `/health/live`, one value, one value of a feed, not modified, a page of 30 items",
     lambda rest: [", ".join(f"{rest[name]:.1f}" for name in (
         "/health/live", "…/values/item1/last_price", "/feeds/quotes/item1/last_price", "…/values, not modified", "…/values, 30 items")), "",
         "fixed response of libmicrohttpd = 1"]),
    ("polls", "10,000 long polls: CPU per response, with the next request",
     lambda polls: [f"{polls[10_000]:.1f}", "", "event of a stream = 1"]),
    ("cache", "20,000 long polls through the cache of nginx: requests a second at the gateway",
     lambda cache: [f"{cache[20_000]:.1f}", "", ""]),
    ("slow-reader", "one reader at 1 KB/s: 99th percentile of the other streams",
     lambda found: [f"{found['with one']:.2f}", "", "without it = 1"]),
    ("tls", "TLS 1.3: CPU per delivered event, 1,000 streams × 20/s / per handshake and request",
     lambda tls: [" / ".join(f"{tls[case]:.2f}" for case in ("1,000 × 20/s", "handshakes") if case in tls), "",
                  "nginx with nchan = 1"]),
    ("idle", "memory of an idle stream with a browser's request head, 10,000 streams",
     lambda idle: [*both(idle[10000, 1], None, "{:.1f} KiB"), ""]),
    ("join", "a stream joins a table of 20,000 rows: CPU; bytes, time of the stream",
     lambda join: [f"{join['cost']:.1f}; {join['bytes'] / 1e6:.1f} MB, {join['time'] * 1e3:.0f} ms", "",
                   "a response with as many bytes = 1"]),
    ("ingest", "updates received per second of CPU time (whole gateway)",
     lambda ingest: [f"{ingest['gateway']['ratio']:.0f} ({ingest['gateway']['megabytes']:.0f} MB/s)", "",
                     "official Python client = 1" if ingest["baseline"] == "Python client" else ""]),
    ("latency", "demo server to one stream × 20/s, × 2,000/s: 99th percentile",
     lambda latency: [", ".join(f"{latency[f'1 × {rate}/s', 'gateway']:+.2f} ms" for rate in (20, 2000)), "",
                      "direct TLCP client; a process that only passes bytes on: " + ", ".join(
                          f"{latency[f'1 × {rate}/s', 'bare relay, TLCP']:+.2f} ms" for rate in (20, 2000))]),
    ("end-to-end", "demo server to 1,000 streams × 20/s: 99th percentile",
     lambda added: [f"{added:+.1f} ms", "", "hub alone"]),
]


def both(figures, name, form="{:.2f}"):
    """The cells of the gateway and of nchan, which may not be installed."""
    cells = []
    for contender in ("gateway", "nchan"):
        figure = figures.get(contender)
        if figure is not None and name is not None:
            figure = figure[name]
        cells.append("" if figure is None else form.format(figure))
    return cells


def rows(found):
    """The rows of the benchmarks that were run."""
    return [[head, *cells(found[name])] for name, head, cells in ROWS if name in found]


def show(found):
    """Prints the table."""
    table(HEADS, rows(found))


def write(found):
    """Replaces the rows of the page whose benchmarks were run. Cells of nchan are kept if it was not measured."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    present = MARKS.search(text)
    if present is None:
        raise SystemExit("Performance.md has no place for the table")
    former = {cells[0]: cells for cells in map(split, present.group(0).splitlines()) if len(cells) == len(HEADS)}
    measured = {row[0]: row for row in rows(found)}
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    for _, head, _ in ROWS:
        row = measured.get(head) or former.get(head)
        if row is None:
            continue
        if not row[2] and head in former:
            row[2] = former[head][2]
        lines.append("| " + " | ".join(row) + " |")
    block = "\n".join(lines) + "\n"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(MARKS.sub(lambda match: match.group(1) + block + match.group(2), text))


def split(line):
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
