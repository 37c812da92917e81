"""events with values of the types of a feed; CPU of the server per delivered event beside events with texts"""

from processes import build, server
from results import interleaved, median, ratio, table

CASES = [(1, 5000), (10, 2000), (1000, 20)]


def run(options):
    """Measures all cases."""
    build("HubServer", "LoadGenerator")
    rows = []
    found = {}
    for streams, rate in CASES:
        name = f"{streams:,} × {rate:,}/s"

        def measure(path):
            with server("HubServer", rate=rate) as running:
                return running.load(streams=streams, seconds=options.seconds, path=path)

        contenders = {"text": lambda: measure("/stream/0"), "typed": lambda: measure("/typed/0")}
        results = interleaved(options.runs, contenders)
        for contender, runs in results.items():
            found[name, contender] = ratio(runs, results["text"], "cost")
            p99 = ratio(runs, results["text"], "p99")
            rows.append([name, contender, f"{median(runs, 'cost'):.2f}", f"{found[name, contender]:.2f}", f"{p99:.2f}"])
    table(["streams", "values", "µs/event", "CPU", "p99"], rows)
    return found
