"""1,000 streams × 20 events/s; CPU of the server per delivered event beside streams of one subscription with one item"""

from processes import build, server
from results import interleaved, median, ratio, table

CASES = {
    "1 item": (dict(items=1), "/stream/0"),
    "30 items of one subscription": (dict(items=30), "/stream/0"),
    "10 subscriptions": (dict(topics=10), "/stream/0-9"),
    "1 item, 20 events at once": (dict(items=1, burst=20), "/stream/0"),
    "10 subscriptions, 20 events at once": (dict(topics=10, burst=20), "/stream/0-9"),
}


def run(options):
    """Measures all cases."""
    build("HubServer", "LoadGenerator")

    def measure(how, path):
        with server("HubServer", rate=20, **how) as running:
            return running.load(streams=1000, seconds=options.seconds, path=path)

    contenders = {name: (lambda how=how, path=path: measure(how, path)) for name, (how, path) in CASES.items()}
    results = interleaved(options.runs, contenders)
    rows = []
    for name, runs in results.items():
        base = results["1 item, 20 events at once" if "at once" in name else "1 item"]
        figures = [ratio(runs, base, figure) for figure in ("cost", "p50", "p99")]
        rows.append([name, f"{median(runs, 'cost'):.2f}", *(f"{figure:.2f}" for figure in figures)])
    table(["stream", "µs/event", "CPU", "p50", "p99"], rows)
