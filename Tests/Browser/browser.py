"""Headless Chromium, controlled by the DevTools protocol."""

import atexit
import base64
import contextlib
import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request

from websockets.sync.client import connect

PATIENCE = 60
STARTING = threading.Lock()


class Page:
    """One page of a browser."""

    def __init__(self, socket):
        self.socket = socket
        self.serial = 0
        self.complaints = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.serial += 1
        self.socket.send(json.dumps({"id": self.serial, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            self.note(message)
            if message.get("id") == self.serial:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]

    def note(self, message):
        """Collects exceptions and violations of the content security policy."""
        parameters = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", parameters["exceptionDetails"]))
        if message.get("method") == "Log.entryAdded" and parameters["entry"]["source"] in ("security", "violation"):
            self.complaints.append(parameters["entry"]["text"])

    def evaluate(self, expression):
        """The value of an expression that returns JSON text."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return json.loads(answer["result"].get("value") or "null")

    def see(self, expression):
        """The value of an expression; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def until(self, expression, is_enough):
        """Evaluates an expression for JSON text repeatedly, until its value satisfies a condition."""
        return self.again(lambda: self.evaluate(expression), expression, is_enough)

    def wait(self, expression, is_enough=bool):
        """Evaluates an expression repeatedly, until its value satisfies a condition; it may fail while a page loads."""
        def look():
            try:
                return self.see(expression)
            except RuntimeError:
                return None

        return self.again(look, expression, is_enough)

    def again(self, look, expression, is_enough):
        deadline = time.monotonic() + PATIENCE
        seen, pause = None, 0.05
        while time.monotonic() < deadline:
            seen = look()
            if seen and is_enough(seen):
                return seen
            time.sleep(pause)
            pause = min(1.5 * pause, 0.2)
        raise RuntimeError(f"never seen: {expression[:200]}; at last: {seen}")

    def click(self, selector):
        self.wait(f"!!document.querySelector({json.dumps(selector)})")
        self.see(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key, code=0, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def go(self, address):
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def picture(self, name):
        """Writes a screenshot where the environment variable SCREENSHOTS names a folder."""
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            data = self.call("Page.captureScreenshot", format="png")["data"]
            pathlib.Path(folder, f"{name}.png").write_bytes(base64.b64decode(data))


class Browser:
    """Any number of tabs, with storage, connections and workers of their own as in another browser."""

    def __init__(self, port):
        self.port = port
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/version", timeout=PATIENCE) as answer:
            self.control = Connection(json.load(answer)["webSocketDebuggerUrl"])
        self.context = self.control.call("Target.createBrowserContext")["browserContextId"]

    def targets(self):
        """The pages and workers of the browser."""
        found = self.control.call("Target.getTargets")["targetInfos"]
        return [target for target in found if target.get("browserContextId") == self.context]

    def tab(self, address):
        """A new page at an address, which may not have loaded yet."""
        target = self.control.call("Target.createTarget", url=address, browserContextId=self.context)["targetId"]
        return Tab(self, target)

    def close(self):
        """Closes the tabs that are open."""
        self.control.call("Target.disposeBrowserContext", browserContextId=self.context)
        self.control.close()


class Connection:
    """Calls of the DevTools protocol over one socket."""

    def __init__(self, address):
        self.socket = connect(address, max_size=None)
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

    def close(self):
        self.socket.close()


class Tab(Page):
    """A page among others of its browser."""

    def __init__(self, browser, target):
        self.browser = browser
        self.target = target
        super().__init__(connect(f"ws://127.0.0.1:{browser.port}/devtools/page/{target}", max_size=None))

    def close(self):
        """Closes the tab as a user does."""
        self.browser.control.call("Target.closeTarget", targetId=self.target)
        self.socket.close()

    def kill(self):
        """Ends the process of the page, as the system does with one that takes too much memory."""
        self.serial += 1
        self.socket.send(json.dumps({"id": self.serial, "method": "Page.crash", "params": {}}))
        with contextlib.suppress(Exception):
            while json.loads(self.socket.recv(timeout=PATIENCE)).get("method") != "Inspector.targetCrashed":
                pass
        self.close()


@contextlib.contextmanager
def opened(address):
    """A page that shares nothing with others."""
    with browsing() as browser:
        yield browser.tab(address)


@contextlib.contextmanager
def browsing():
    """A browser for pages in several tabs that share nothing with the pages of others."""
    with STARTING:
        browser = Browser(port())
    try:
        yield browser
    finally:
        browser.close()


@functools.cache
def port():
    """The port of the DevTools of one process, which ends with the script: its start takes longer than most checks."""
    binary = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    deadline = time.monotonic() + PATIENCE
    profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    atexit.register(profile.cleanup)
    # The list below the address bar consists of two pages of each window, which take longer than most pages of tests.
    browser = subprocess.Popen(
        [binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-startup-window", "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
         "--remote-debugging-port=0", f"--user-data-dir={profile.name}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    # In the reverse order: the browser ends before its profile is removed.
    atexit.register(browser.wait)
    atexit.register(browser.terminate)
    return devtools_port(profile.name, browser, deadline)


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
