"""one consumer of the demo server through the gateway; latency beside a direct TLCP consumer of the same updates"""

import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import median, table

RATES = [20, 200, 2000]
QUERY = urllib.parse.urlencode(
    {"upstream": "bench", "mode": "MERGE", "items": "item1", "fields": "last_price,at", "dataAdapter": "BENCH"}
)
DIRECT = {"tlcp_group": "item1", "tlcp_schema": "last_price%20at", "tlcp_adapter": "BENCH"}


def measure(rate, seconds):
    """Both consumers at the same time, by name."""
    with server("DemoSource", core=LOAD_CORE, rate=rate) as source:
        with gateway(f"http://127.0.0.1:{source.port}") as running:
            with ThreadPoolExecutor() as both:
                direct = both.submit(source.load, streams=1, seconds=seconds, **DIRECT)
                through = both.submit(running.load, streams=1, seconds=seconds, path=f"/v1/stream?{QUERY}")
                return {"direct, TLCP": direct.result(), "gateway": through.result()}


def run(options):
    """Measures several rates."""
    build("LoadGenerator", "DemoSource")
    build_gateway()
    rows = []
    found = {}
    for rate in RATES:
        runs = [measure(rate, options.seconds) for _ in range(options.runs)]
        case = f"1 × {rate}/s"
        for name in runs[0]:
            figures = [run[name] for run in runs]
            added = median([{"p99": run[name]["p99"] - run["direct, TLCP"]["p99"]} for run in runs], "p99")
            found[case] = added
            cells = [f"{median(figures, figure):.2f}" for figure in ("p50", "p99", "p999")]
            rows.append([case, name, f"{median(figures, 'rate'):,.0f}", *cells, f"{added:+.2f}"])
    table(["case", "consumer of", "events/s", "p50, ms", "p99, ms", "p99.9, ms", "p99 adds, ms"], rows)
    return found
