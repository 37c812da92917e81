"""100,000 events/s into the hub; CPU of an event beside one topic without readers, whose events are not encoded, and the memory of a topic and of an item"""

from processes import build, server
from results import interleaved, median, ratio, table

RATE = 100_000
# Topics, items of each, readers.
CASES = {
    "1 topic": (1, 1, 0),
    "10,000 topics": (10_000, 1, 0),
    "1 topic of 100,000 items": (1, 100_000, 0),
    "1 topic with a reader": (1, 1, 1),
}


def run(options):
    """Measures topics without readers, and one with a reader."""
    build("HubServer", "LoadGenerator")

    def measure(topics, items, readers):
        # The load generator needs a stream: without readers it is one of a topic without events.
        with server("HubServer", rate=RATE, burst=10, topics=topics, items=items, quiet=1) as running:
            found = running.load(streams=1, seconds=options.seconds, path=f"/stream/{topics - readers}")
            found["publish"] = found["cpu"] / found["seconds"] / RATE * 1e6
            found["kib"] = found["memory"]
            return found

    contenders = {name: (lambda case=case: measure(*case)) for name, case in CASES.items()}
    results = interleaved(options.runs, contenders)
    rows = []
    found = {}
    for name, runs in results.items():
        cost = median(runs, "publish")
        topics, items, _ = CASES[name]
        more = topics * items - 1
        kib = (median(runs, "kib") - median(results["1 topic"], "kib")) / more if more else None
        found[name] = {"cost": ratio(runs, results["1 topic"], "publish"), "kib": kib}
        cells = [f"{cost:.2f}", f"{found[name]['cost']:.2f}", f"{cost * RATE / 1e6:.0%}"]
        rows.append([name, *cells, "" if kib is None else f"{kib:.1f}"])
    table(["case", "µs/event", "ratio", "of a core", "KiB/topic or item"], rows)
    return found
