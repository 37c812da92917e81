"""The table of README.md, made from what all benchmarks found."""

import os
import re

from processes import PRODUCT
from results import table

README = os.path.join(PRODUCT, "README.md")
MARKS = re.compile(r"(<!-- benchmarks -->\n).*?(<!-- /benchmarks -->\n)", re.DOTALL)
HEADS = ["measurement", "gateway", "nchan", "baseline"]


def rows(found):
    """The rows: gateway and nchan as ratios to the baseline, unless a unit is given."""
    fan_out = found["fan-out"]
    many = fan_out[1000, 20]
    spread = fan_out[10000, 2]
    flood = fan_out[1000, 1000]
    multiplexed = found["multiplexed"]
    rest = found["rest"]
    idle = found["idle"][10000, 1]
    ingest = found["ingest"]
    tls = found["tls"]
    latency = found["latency"]
    bare = "bare = 1"
    return [
        ["CPU per delivered event, 1,000 streams × 20/s", *both(many, "cost"), bare],
        ["99th percentile of its latency", *both(many, "p99"), bare],
        ["CPU per delivered event, 10,000 streams × 2/s", *both(spread, "cost"), bare],
        ["events delivered of 1,000 streams × 1,000/s", *both(flood, "delivered", "{:.0%}"),
         f"bare: {flood['bare']['delivered']:.0%}"],
        ["CPU per delivered event there", *both(flood, "cost"), bare],
        ["99th percentile there", *both(flood, "p99"), bare],
        ["events for one stream of 100 / 10,000: CPU",
         f"{found['sparse'][100, 2000]:.1f} / {found['sparse'][10000, 2000]:.1f}", "", bare],
        ["ten subscriptions on one stream, spread / 20 events at once: CPU",
         f"{multiplexed['10 subscriptions']:.2f} / {multiplexed['10 subscriptions, 20 events at once']:.2f}", "",
         "one item on one stream = 1"],
        ["two threads on two cores, 1,000 streams × 100/s: events/s", f"{found['threads']['1,000 × 100/s']:.1f}", "",
         "one thread = 1"],
        ["CPU per published event, 10,000 topics", f"{found['publish']['10,000 topics']['cost']:.1f}", "", "one topic = 1"],
        ["memory of a topic with one item", f"{found['publish']['10,000 topics']['kib']:.1f} KiB", "", ""],
        ["CPU per REST request: `/health/live`, one value, not modified, a page of 30 items",
         ", ".join(f"{rest[name]:.1f}" for name in (
             "/health/live", "…/values/item1/last_price", "…/values, not modified", "…/values, 30 items")), "",
         "fixed response of libmicrohttpd = 1"],
        ["10,000 long polls: CPU per response, with the next request", f"{found['polls'][10_000]:.1f}", "",
         "event of a stream = 1"],
        ["one reader at 1 KB/s: 99th percentile of the other streams", f"{found['slow-reader']['with one']:.2f}", "",
         "without it = 1"],
        ["TLS 1.3: CPU per delivered event, 1,000 streams × 20/s / per handshake and request",
         " / ".join(f"{tls[case]:.2f}" for case in ("1,000 × 20/s", "handshakes") if case in tls), "", "nginx with nchan = 1"],
        ["memory of an idle stream with a browser's request head, 10,000 streams", *both(idle, None, "{:.1f} KiB"), ""],
        ["updates received per second of CPU time (whole gateway)",
         f"{ingest['gateway']['ratio']:.0f} ({ingest['gateway']['megabytes']:.0f} MB/s)", "",
         "official Python client = 1" if ingest["baseline"] == "Python client" else ""],
        ["demo server to one stream × 20/s, × 2,000/s: 99th percentile",
         ", ".join(f"{latency[f'1 × {rate}/s', 'gateway']:+.2f} ms" for rate in (20, 2000)), "",
         "direct TLCP client; bare relay: "
         + ", ".join(f"{latency[f'1 × {rate}/s', 'bare relay, TLCP']:+.2f} ms" for rate in (20, 2000))],
        ["demo server to 1,000 streams × 20/s: 99th percentile", f"{found['end-to-end']:+.1f} ms", "", "hub alone"],
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


def show(found):
    """Prints the table."""
    table(HEADS, rows(found))


def write(found):
    """Replaces the table in README.md. Cells of nchan are kept if it was not measured."""
    with open(README, encoding="utf-8") as file:
        text = file.read()
    present = MARKS.search(text)
    if present is None:
        raise SystemExit("README.md has no place for the table")
    former = dict((cells[0], cells) for cells in map(split, present.group(0).splitlines()) if len(cells) == len(HEADS))
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    for row in rows(found):
        if not row[2] and row[0] in former:
            row[2] = former[row[0]][2]
        lines.append("| " + " | ".join(row) + " |")
    block = "\n".join(lines) + "\n"
    with open(README, "w", encoding="utf-8") as file:
        file.write(MARKS.sub(lambda match: match.group(1) + block + match.group(2), text))


def split(line):
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
