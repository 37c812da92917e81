"""Headless Chromium, spoken to by the DevTools protocol."""

import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request

from websockets.sync.client import connect

PATIENCE = 60


class Page:
    """One page of a browser."""

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
        """What an expression gives that makes a JSON text."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return json.loads(answer["result"].get("value") or "null")

    def until(self, expression, is_enough):
        """Looks again and again, until a look is enough."""
        deadline = time.monotonic() + PATIENCE
        seen = None
        while time.monotonic() < deadline:
            seen = self.evaluate(expression)
            if seen and is_enough(seen):
                return seen
            time.sleep(0.2)
        raise RuntimeError(f"never seen; at last: {seen}")


@contextlib.contextmanager
def opened(address):
    """A page of a browser of its own."""
    binary = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    deadline = time.monotonic() + PATIENCE
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-port=0", f"--user-data-dir={profile}", address],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            url = page_socket(devtools_port(profile, browser, deadline), deadline)
            with connect(url, max_size=None) as socket:
                yield Page(socket)
        finally:
            browser.terminate()
            browser.wait()


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
