"""Medians and tables."""

import statistics


def median(runs, figure):
    """The median of a figure over the runs."""
    return statistics.median(run[figure] for run in runs)


def ratio(runs, baseline, figure):
    """The median of the ratios of a figure to that of the baseline in the same run."""
    return statistics.median(run[figure] / base[figure] if base[figure] else 0 for run, base in zip(runs, baseline))


def table(heads, rows):
    """Prints rows of texts under their heads, aligned, as Markdown."""
    widths = [max(len(row[index]) for row in [heads, *rows]) for index in range(len(heads))]
    ruler = ["-" * width for width in widths]
    for row in [heads, ruler, *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |", flush=True)


def interleaved(count, contenders):
    """Runs the contenders, functions by name, in turn; the list of results of each."""
    results = {name: [] for name in contenders}
    for _ in range(count):
        for name, measure in contenders.items():
            results[name].append(measure())
    return results
