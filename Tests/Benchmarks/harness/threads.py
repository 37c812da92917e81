"""two threads on two cores; how much they carry beside one, by the CPU of an event: two of them have twice the CPU"""

from processes import build, server
from results import interleaved, median, ratio, table

CASES = [(1000, 100), (5000, 10)]


def run(options):
    """Measures one and two threads."""
    build("HubServer", "LoadGenerator")

    def measure(streams, rate, threads):
        with server("HubServer", core="0,1" if threads > 1 else 0, rate=rate, threads=threads) as running:
            return running.load(streams=streams, seconds=options.seconds, path="/stream/0")

    rows = []
    found = {}
    for streams, rate in CASES:
        case = f"{streams:,} × {rate}/s"
        contenders = {
            threads: (lambda threads=threads: measure(streams, rate, threads)) for threads in (1, 2)
        }
        results = interleaved(options.runs, contenders)
        for threads, runs in results.items():
            carried = threads / ratio(runs, results[1], "cost")
            found[case] = carried
            rows.append([case, str(threads), f"{median(runs, 'cost'):.2f}", f"{carried:.2f}"])
    table(["case", "threads", "µs/event", "events/s beside one thread"], rows)
    return found
