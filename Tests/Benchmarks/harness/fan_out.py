"""one event to many streams; CPU of the server per delivered event, and latency, beside `bare` (one send an event) and nchan"""

from processes import build, has_nchan, nchan, server
from results import interleaved, median, ratio, table

CASES = [(100, 200), (1000, 20), (5000, 5), (10000, 2), (5000, 200), (1000, 1000), (5000, 1000)]
NAMES = [f"{streams} × {rate}/s" for streams, rate in CASES]


def contenders(streams, rate, options):
    """One case of the benchmark."""

    def measure(make, **load):
        with make as running:
            found = running.load(streams=streams, seconds=options.seconds, path="/stream/0", **load)
            found["kib"] = (found["memory"] - found["memoryBefore"]) / streams
            return found

    found = {
        "bare": lambda: measure(server("BareSender", rate=rate)),
        "gateway": lambda: measure(server("HubServer", rate=rate)),
    }
    if has_nchan():
        found["nchan"] = lambda: measure(nchan(), publish_path="/publish", publish_rate=rate)
    return found


def run(options):
    """Measures all cases."""
    build("BareSender", "HubServer", "LoadGenerator")
    if not has_nchan():
        print("nchan is left out: libnginx-mod-nchan is not installed\n")
    rows = []
    found = {}
    for (streams, rate), name in zip(CASES, NAMES):
        if options.only not in name:
            continue
        results = interleaved(options.runs, contenders(streams, rate, options))
        rows += [row(name, contender, runs, results["bare"]) for contender, runs in results.items()]
        found[streams, rate] = {
            contender: {
                "cost": ratio(runs, results["bare"], "cost"),
                "p99": ratio(runs, results["bare"], "p99"),
                "delay": median(runs, "p99"),
                "delivered": median(runs, "rate") / (streams * rate),
            }
            for contender, runs in results.items()
        }
    heads = ["case", "server", "events/s", "µs/event", "CPU", "p50", "p99", "p99.9", "p99, ms", "KiB/stream"]
    table(heads, rows)
    return found


def row(name, contender, runs, bare):
    """The figures of a contender: ratios to `bare`, unless a unit is given."""
    return [
        name,
        contender,
        f"{median(runs, 'rate'):,.0f}",
        f"{median(runs, 'cost'):.2f}",
        f"{ratio(runs, bare, 'cost'):.2f}",
        f"{ratio(runs, bare, 'p50'):.2f}",
        f"{ratio(runs, bare, 'p99'):.2f}",
        f"{ratio(runs, bare, 'p999'):.2f}",
        f"{median(runs, 'p99'):.2f}",
        f"{median(runs, 'kib'):.1f}",
    ]
