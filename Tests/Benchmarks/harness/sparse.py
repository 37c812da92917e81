"""as many subscriptions as streams, each event for one stream; CPU of the server per event beside `bare`"""

from processes import build, server
from results import interleaved, median, ratio, table

CASES = [(100, 2000), (1000, 2000), (10000, 100), (10000, 2000), (10000, 10000)]
NAMES = [f"{streams:,}, {rate:,}/s" for streams, rate in CASES]


def run(options):
    """Measures all cases."""
    build("BareSender", "HubServer", "LoadGenerator")

    def measure(make, streams, path):
        with make as running:
            return running.load(streams=streams, seconds=options.seconds, path=path)

    rows = []
    found = {}
    for (streams, rate), case in zip(CASES, NAMES):
        if options.only not in case:
            continue
        contenders = {
            "bare": lambda: measure(server("BareSender", rate=rate, sparse=1), streams, "/"),
            "gateway": lambda: measure(server("HubServer", rate=rate, topics=streams), streams, "/stream/%d"),
        }
        results = interleaved(options.runs, contenders)
        found[streams, rate] = ratio(results["gateway"], results["bare"], "cost")
        for name, runs in results.items():
            figures = [ratio(runs, results["bare"], figure) for figure in ("cost", "p50", "p99")]
            rows.append([case, name, f"{median(runs, 'cost'):.2f}", *(f"{figure:.2f}" for figure in figures)])
    table(["streams, events", "server", "µs/event", "CPU", "p50", "p99"], rows)
    return found
