"""one consumer of the demo server through the gateway, and one through a process that only passes bytes on; latency beside a direct TLCP consumer of the same updates"""

import statistics
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import median, table

RATES = [20, 200, 2000]
LEAST_EVENTS = 500
QUERY = urllib.parse.urlencode(
    {"upstream": "bench", "mode": "MERGE", "items": "item1", "fields": "last_price,at", "dataAdapter": "BENCH"}
)
TLCP = {"tlcp_group": "item1", "tlcp_schema": "last_price%20at", "tlcp_adapter": "BENCH"}
DIRECT, RELAY, GATEWAY = "direct, TLCP", "bare relay, TLCP", "gateway"


def beside_direct(source, seconds, consume):
    """A direct consumer and another one at the same time."""
    with ThreadPoolExecutor() as both:
        direct = both.submit(source.load, streams=1, seconds=seconds, **TLCP)
        other = both.submit(consume)
        return direct.result(), other.result()


def measure(rate, seconds):
    """The results by name of consumer."""
    with server("DemoSource", core=LOAD_CORE, rate=rate) as source:
        with server("BareRelay", to=source.port) as relay:
            relayed = beside_direct(source, seconds, lambda: relay.load(streams=1, seconds=seconds, **TLCP))
        with gateway(f"http://127.0.0.1:{source.port}") as running:
            through = beside_direct(
                source, seconds, lambda: running.load(streams=1, seconds=seconds, path=f"/v1/stream?{QUERY}")
            )
    return {DIRECT: (through[0], through[0]), RELAY: relayed, GATEWAY: through}


def run(options):
    """Measures several rates."""
    build("LoadGenerator", "DemoSource", "BareRelay")
    build_gateway()
    rows = []
    found = {}
    for rate in RATES:
        seconds = max(options.seconds, LEAST_EVENTS / rate)
        runs = [measure(rate, seconds) for _ in range(options.runs)]
        case = f"1 × {rate}/s"
        for name in runs[0]:
            figures = [run[name][1] for run in runs]
            added = {
                figure: statistics.median(other[figure] - direct[figure] for direct, other in (run[name] for run in runs))
                for figure in ("p50", "p99")
            }
            found[case, name] = added["p99"]
            cells = [f"{median(figures, figure):.2f}" for figure in ("p50", "p99", "p999")]
            rows.append(
                [case, name, f"{median(figures, 'rate'):,.0f}", *cells, f"{added['p50']:+.2f}", f"{added['p99']:+.2f}"]
            )
    table(
        ["case", "consumer of", "events/s", "p50, ms", "p99, ms", "p99.9, ms", "p50 adds, ms", "p99 adds, ms"], rows
    )
    return found
