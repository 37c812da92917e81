"""20 events/s to each stream; CPU of the server per delivered event beside streams of one subscription with one item"""

from processes import build, server
from results import interleaved, median, ratio, table

CASES = {
    "1 item": (dict(items=1), "/stream/0"),
    "30 items of one subscription": (dict(items=30), "/stream/0"),
    "10 subscriptions": (dict(topics=10), "/stream/0-9"),
    "1 item, 20 events at once": (dict(items=1, burst=20), "/stream/0"),
    "10 subscriptions, 20 events at once": (dict(topics=10, burst=20), "/stream/0-9"),
}
BASES = {name: "1 item, 20 events at once" for name in CASES if "at once" in name}
WIDE_CASES = {
    "1 subscription, 100 events at once": (dict(burst=100), "/stream/0"),
    "1,000 subscriptions, 100 events at once": (dict(topics=1000, burst=100), "/stream/0-999"),
}


def run(options):
    """Measures all cases."""
    build("HubServer", "LoadGenerator")

    def measure(streams, how, path):
        with server("HubServer", rate=max(20, how.get("burst", 0)), **how) as running:
            return running.load(streams=streams, seconds=options.seconds, path=path)

    rows = []
    found = {}
    for streams, cases in ((1000, CASES), (50, WIDE_CASES)):
        contenders = {
            name: (lambda how=how, path=path: measure(streams, how, path)) for name, (how, path) in cases.items()
        }
        results = interleaved(options.runs, contenders)
        for name, runs in results.items():
            base = results[BASES.get(name, next(iter(cases)))]
            found[name] = ratio(runs, base, "cost")
            figures = [ratio(runs, base, figure) for figure in ("cost", "p50", "p99")]
            rows.append(
                [f"{streams:,}", name, f"{median(runs, 'cost'):.2f}", *(f"{figure:.2f}" for figure in figures)]
            )
    table(["streams", "each of", "µs/event", "CPU", "p50", "p99"], rows)
    return found
