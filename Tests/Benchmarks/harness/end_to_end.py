"""demo server → client → hub → 1,000 streams: latency beside streams of the hub alone"""

from latency import QUERY
from processes import LOAD_CORE, build, build_gateway, gateway, server
from results import interleaved, median, table

STREAMS, RATE = 1000, 20


def through_gateway(options):
    """Consumers of a gateway over the demo server."""
    with server("DemoSource", core=LOAD_CORE, rate=RATE) as source:
        with gateway(f"http://127.0.0.1:{source.port}") as running:
            return running.load(streams=STREAMS, seconds=options.seconds, path=f"/v1/stream?{QUERY}")


def hub_alone(options):
    """Consumers of the hub, with events published directly into it."""
    with server("HubServer", rate=RATE) as running:
        return running.load(streams=STREAMS, seconds=options.seconds, path="/stream/0")


def run(options):
    """Measures both."""
    build("LoadGenerator", "HubServer", "DemoSource")
    build_gateway()
    contenders = {"hub alone": lambda: hub_alone(options), "gateway": lambda: through_gateway(options)}
    results = interleaved(options.runs, contenders)
    base = median(results["hub alone"], "p99")
    rows = []
    for name, runs in results.items():
        latencies = [median(runs, figure) for figure in ("p50", "p99", "p999")]
        cells = [f"{latency:.2f}" for latency in latencies] + [f"{latencies[1] - base:+.2f}"]
        rows.append([name, f"{median(runs, 'rate'):,.0f}", *cells])
    table(["consumer of", "events/s", "p50, ms", "p99, ms", "p99.9, ms", "p99 adds, ms"], rows)
    return median(results["gateway"], "p99") - base
