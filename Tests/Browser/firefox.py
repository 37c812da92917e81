"""The module for browsers in headless Firefox, controlled by WebDriver BiDi: tabs share one stream, and one that ends hands over.

    python firefox.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from websockets.sync.client import connect

import gateway

PATIENCE = 60
OPEN = """(async () => {
    const { connect } = await import("/assets/gateway.js");
    window.updates = 0;
    window.gateway = connect(location.origin, %s);
    window.handle = gateway.subscribe({ upstream: "demo", mode: "MERGE", items: ["item1", "item2", "item3"], fields: ["last_price"] },
        { update() { updates += 1; } });
    return true;
})()"""


class Firefox:
    def __init__(self, socket):
        self.socket = socket
        self.serial = 0
        self.call("session.new", capabilities={})

    def call(self, method, **parameters):
        self.serial += 1
        self.socket.send(json.dumps({"id": self.serial, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            if message.get("id") == self.serial:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['message']}")
                return message["result"]

    def tab(self, address):
        context = self.call("browsingContext.create", type="tab")["context"]
        self.call("browsingContext.navigate", context=context, url=address, wait="complete")
        return context

    def see(self, tab, expression):
        answer = self.call("script.evaluate", expression=f"Promise.resolve({expression}).then((value) => JSON.stringify(value) ?? 'null')",
                           target={"context": tab}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def wait(self, tab, expression):
        deadline = time.monotonic() + PATIENCE
        while not (seen := self.see(tab, expression)):
            if time.monotonic() > deadline:
                raise RuntimeError(f"never seen: {expression}")
            time.sleep(0.1)
        return seen


@contextlib.contextmanager
def browsing(binary):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen([binary, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            file = pathlib.Path(profile) / "WebDriverBiDiServer.json"
            deadline = time.monotonic() + PATIENCE
            while not (file.exists() and file.read_text().strip()):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("Firefox did not start")
                time.sleep(0.1)
            place = json.loads(file.read_text())
            with connect(f"ws://{place['ws_host']}:{place['ws_port']}/session", max_size=None) as socket:
                yield Firefox(socket)
        finally:
            # It does not end on SIGTERM while a session of BiDi is open.
            process.kill()
            process.wait()


def tabs_share_a_stream_and_hand_it_over(binary, browser, options):
    # Another origin than that of the former pages.
    with gateway.demo(binary) as (address, _):
        tabs = [browser.tab(address + "/assets/gateway-hub.js") for _ in range(3)]
        for tab in tabs:
            browser.see(tab, OPEN % options)
            browser.wait(tab, "handle.state.state === 'open' && handle.rows.size === 3")
        before = gateway.streams(address)
        if len(before) != 1:
            raise RuntimeError(f"{len(before)} streams")
        # The first tab may be the one that reads.
        browser.call("browsingContext.close", context=tabs[0])
        for tab in tabs[1:]:
            count = browser.see(tab, "updates")
            browser.wait(tab, f"updates > {count} + 5 && handle.state.state === 'open'")
        after = [stream["id"] for stream in gateway.streams(address) if stream["open"]]
        if after != [before[0]["id"]]:
            raise RuntimeError(f"the stream was not continued: {after}")
        for tab in tabs[1:]:
            browser.call("browsingContext.close", context=tab)


def main(binary):
    firefox = next(filter(None, map(shutil.which, ["firefox-esr", "firefox"])), None)
    if not firefox:
        raise RuntimeError("it is not installed; .ci/setup tests does it")
    with browsing(firefox) as browser:
        for options in ("{}", '{ share: "tabs" }'):
            tabs_share_a_stream_and_hand_it_over(binary, browser, options)
    print("firefox: three tabs use one stream and hand it over, by a SharedWorker and by the tabs")


if __name__ == "__main__":
    gateway.script("firefox", main)
