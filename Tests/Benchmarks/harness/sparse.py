"""each event for one stream of many; CPU of the server per event beside `bare`, at few streams and at many"""

from processes import build, server
from results import interleaved, median, ratio, table

CASES = [100, 1000, 10000]
RATE = 2000


def run(options):
    """Measures all cases."""
    build("BareSender", "HubServer", "LoadGenerator")

    def measure(make, streams, path):
        with make as running:
            return running.load(streams=streams, seconds=options.seconds, path=path)

    rows = []
    for streams in CASES:
        contenders = {
            "bare": lambda: measure(server("BareSender", rate=RATE, sparse=1), streams, "/"),
            "gateway": lambda: measure(server("HubServer", rate=RATE, topics=streams), streams, "/stream/%d"),
        }
        results = interleaved(options.runs, contenders)
        for name, runs in results.items():
            figures = [ratio(runs, results["bare"], figure) for figure in ("cost", "p50", "p99")]
            rows.append([str(streams), name, f"{median(runs, 'cost'):.2f}", *(f"{figure:.2f}" for figure in figures)])
    table(["streams", "server", "µs/event", "CPU", "p50", "p99"], rows)
