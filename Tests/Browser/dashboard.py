"""Opens the dashboard in headless Chromium and waits until it shows live values.

    python dashboard.py http://127.0.0.1:8080

Ends 0 once the status badge says CONNECTED, the table has a row for each item and a value changed before its eyes; prints
what is missing and ends 1 after a minute.
"""

import sys

from browser import opened

LOOK = """JSON.stringify({
  status: document.getElementById("status").textContent,
  rows: [...document.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)),
  log: [...document.querySelectorAll("#log b")].map((name) => name.textContent.trim()),
  problem: document.getElementById("problem").textContent,
})"""


def is_filled(seen):
    return seen["status"].startswith("CONNECTED") and len(seen["rows"]) == 5 and "stream" in seen["log"]


def main(address):
    with opened(address + "/") as page:
        first = page.until(LOOK, is_filled)
        page.until(LOOK, lambda seen: is_filled(seen) and seen["rows"] != first["rows"])
    print(f"dashboard: {first['status']}, {len(first['rows'])} rows, values change")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as problem:  # Whatever it is, it is the answer.
        sys.exit(f"dashboard: {problem}")
