"""Opens the dashboard in headless Chromium and waits until it shows live values.

    python dashboard.py http://127.0.0.1:8080

Ends 0 once the status badge says CONNECTED, the table has a row for each item and a value changed before its eyes; prints
what is missing and ends 1 after half a minute.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from websockets.sync.client import connect

PATIENCE = 30
LOOK = """JSON.stringify({
  status: document.getElementById("status").textContent,
  rows: [...document.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)),
  log: [...document.querySelectorAll("#log b")].map((name) => name.textContent.trim()),
  problem: document.getElementById("problem").textContent,
})"""


class Page:
    """One page of a browser, spoken to by the DevTools protocol."""

    def __init__(self, socket):
        self.socket = socket
        self.serial = 0

    def call(self, method, **parameters):
        self.serial += 1
        self.socket.send(json.dumps({"id": self.serial, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            if message.get("id") == self.serial:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return json.loads(answer["result"].get("value") or "null")


def devtools_port(profile, browser, deadline):
    """The port that the browser chose; it writes it to a file of its profile."""
    file = pathlib.Path(profile) / "DevToolsActivePort"
    while time.monotonic() < deadline:
        if browser.poll() is not None:
            raise RuntimeError(f"the browser ended with {browser.returncode}")
        lines = file.read_text().splitlines() if file.exists() else []
        if lines:
            return int(lines[0])
        time.sleep(0.1)
    raise RuntimeError("the browser opened no port")


def page_socket(port, deadline):
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=5) as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
        if pages:
            return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.1)
    raise RuntimeError("the browser opened no page")


def watch(page, deadline):
    """Looks until the page is alive; the first complete look is compared with later ones."""
    first = None
    seen = None
    while time.monotonic() < deadline:
        seen = page.evaluate(LOOK)
        if seen and seen["status"].startswith("CONNECTED") and len(seen["rows"]) == 5:
            first = first or seen["rows"]
            if seen["rows"] != first and "stream" in seen["log"]:
                return seen
        time.sleep(0.2)
    raise RuntimeError(f"the dashboard is not alive: {seen}")


def main(address):
    binary = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    deadline = time.monotonic() + PATIENCE
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-port=0", f"--user-data-dir={profile}", address + "/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            url = page_socket(devtools_port(profile, browser, deadline), deadline)
            with connect(url, max_size=None) as socket:
                seen = watch(Page(socket), deadline)
            print(f"dashboard: {seen['status']}, {len(seen['rows'])} rows, values change")
        finally:
            browser.terminate()
            browser.wait()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as problem:  # Whatever it is, it is the answer.
        sys.exit(f"dashboard: {problem}")
