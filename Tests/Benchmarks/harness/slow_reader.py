"""1,000 streams × 100 events/s; the latency of all but one, which reads 1 KB a second, with and without it"""

from processes import build, server
from results import interleaved, median, ratio, table


def run(options):
    """Measures with and without."""
    build("HubServer", "LoadGenerator")

    def measure(slow):
        with server("HubServer", rate=100) as running:
            return running.load(streams=1000, slow_streams=slow, seconds=options.seconds, warm_up=4, path="/stream/0")

    contenders = {"without": lambda: measure(0), "with one": lambda: measure(1), "with ten": lambda: measure(10)}
    results = interleaved(options.runs, contenders)
    rows = []
    for name, runs in results.items():
        figures = [ratio(runs, results["without"], figure) for figure in ("cost", "p50", "p99", "p999")]
        rows.append([name, f"{median(runs, 'p99'):.2f}", *(f"{figure:.2f}" for figure in figures)])
    found = {name: ratio(runs, results["without"], "p99") for name, runs in results.items()}
    table(["slow readers", "p99, ms", "CPU", "p50", "p99", "p99.9"], rows)
    return found
