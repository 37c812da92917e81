"""the stages of the path of an update one by one, on lines of a quote feed; the baseline is the ingest of the whole gateway"""

import json
import subprocess

from processes import SERVER_CORE, binary, build, pinned
from results import interleaved, median, table

ROUNDS_PER_SECOND = 20


def measure(options):
    """Runs all stages once."""
    command = pinned(SERVER_CORE, binary("IngestStages"), max(1, int(options.seconds * ROUNDS_PER_SECOND)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(options):
    """Measures all stages."""
    build("IngestStages")
    runs = interleaved(options.runs, {"all": lambda: measure(options)})["all"]
    rows = []
    found = {}
    for index, stage in enumerate(runs[0]):
        figures = [run[index] for run in runs]
        found[stage["stage"]] = median(figures, "megabytes")
        cells = [f"{median(figures, 'nanoseconds'):.0f}", f"{median(figures, 'megabytes'):.0f}"]
        rows.append([stage["stage"], *cells, f"{median(figures, 'allocations'):.1f}"])
    table(["stage", "ns/line", "MB/CPU s", "allocations/line"], rows)
    return found
