"""demo server → client → hub → stream: latency beside a TLCP client connected to the demo server, and beside the hub alone"""

import urllib.parse

from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import interleaved, median, table

RATES = [20, 200, 2000]
QUERY = urllib.parse.urlencode(
    {"upstream": "bench", "mode": "MERGE", "items": "item1", "fields": "last_price,at", "dataAdapter": "BENCH"}
)
DIRECT = {"tlcp_group": "item1", "tlcp_schema": "last_price%20at", "tlcp_adapter": "BENCH"}


def direct(rate, streams, options):
    """Consumers of the demo server."""
    with server("DemoSource", core=LOAD_CORE, rate=rate) as source:
        return source.load(streams=streams, seconds=options.seconds, **DIRECT)


def through_gateway(rate, streams, options):
    """Consumers of a gateway over the demo server."""
    with server("DemoSource", core=LOAD_CORE, rate=rate) as source:
        with gateway(f"http://127.0.0.1:{source.port}") as running:
            return running.load(streams=streams, seconds=options.seconds, path=f"/v1/stream?{QUERY}")


def hub_alone(rate, streams, options):
    """Consumers of the hub, with events published directly into it."""
    with server("HubServer", rate=rate) as running:
        return running.load(streams=streams, seconds=options.seconds, path="/stream/0")


def run(options):
    """Measures single consumers at several rates, then many."""
    build("LoadGenerator", "HubServer", "DemoSource")
    build_gateway()
    rows = []
    for rate in RATES:
        contenders = {
            "direct, TLCP": lambda: direct(rate, 1, options),
            "gateway": lambda: through_gateway(rate, 1, options),
        }
        rows += compare(f"1 × {rate}/s", interleaved(options.runs, contenders))
    contenders = {
        "hub alone": lambda: hub_alone(20, 1000, options),
        "gateway": lambda: through_gateway(20, 1000, options),
    }
    rows += compare("1000 × 20/s", interleaved(options.runs, contenders))
    added = {row[0]: float(row[-1]) for row in rows if row[1] == "gateway"}
    table(["case", "consumer of", "events/s", "p50, ms", "p99, ms", "p99.9, ms", "p99 adds, ms"], rows)
    return added


def compare(case, results):
    """Rows for one case; the first contender is the baseline of the others."""
    base = median(next(iter(results.values())), "p99")
    rows = []
    for name, runs in results.items():
        latencies = [median(runs, figure) for figure in ("p50", "p99", "p999")]
        cells = [f"{latency:.2f}" for latency in latencies] + [f"{latencies[1] - base:+.2f}"]
        rows.append([case, name, f"{median(runs, 'rate'):,.0f}", *cells])
    return rows
