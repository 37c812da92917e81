"""100,000 events/s into the hub; CPU of an event beside one topic without readers, whose events are not encoded"""

from processes import build, server
from results import interleaved, median, ratio, table

RATE = 100_000
CASES = {
    "1 topic": (1, 0),
    "10,000 topics": (10_000, 0),
    "1 topic with a reader": (1, 1),
}


def run(options):
    """Measures topics without readers, and one with a reader."""
    build("HubServer", "LoadGenerator")

    def measure(topics, readers):
        # The load generator needs a stream: without readers it is one of a topic without events.
        with server("HubServer", rate=RATE, burst=10, topics=topics, quiet=1) as running:
            found = running.load(streams=1, seconds=options.seconds, path=f"/stream/{topics - readers}")
            found["publish"] = found["cpu"] / found["seconds"] / RATE * 1e6
            return found

    contenders = {
        name: (lambda topics=topics, readers=readers: measure(topics, readers))
        for name, (topics, readers) in CASES.items()
    }
    results = interleaved(options.runs, contenders)
    rows = []
    for name, runs in results.items():
        cost = median(runs, "publish")
        rows.append([name, f"{cost:.2f}", f"{ratio(runs, results['1 topic'], 'publish'):.2f}", f"{cost * RATE / 1e6:.0%}"])
    table(["case", "µs/event", "ratio", "of a core"], rows)
