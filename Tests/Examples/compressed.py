"""Compressed streams through the clients, browsers and proxies of other projects: each gets what an uncompressed stream gets.

    python compressed.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import concurrent.futures
import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zlib

import httpx

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "Browser"))

import cached
import firefox
import gateway
from browser import opened
from gateway import server

PATH = "/v1/stream?mode=MERGE&items=" + ",".join(f"item{number}" for number in range(1, 11)) + "&fields=last_price,time"
SECONDS = 8
LEAST_UPDATES = 8
IN_A_PAGE = """(() => {
    window.seen = [];
    new EventSource("%s").addEventListener("update", ({ lastEventId, data }) => {
        if (!JSON.parse(data).snapshot) seen.push([lastEventId, data]);
    });
    return fetch("%s").then((response) => {
        window.encoding = response.headers.get("content-encoding");
        return response.body.cancel();
    });
})()"""


def updates(text):
    """The id and the data of each complete `update` event."""
    found = []
    for event in text.replace("\r\n", "\n").split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in event.splitlines() if ": " in line)
        if lines.get("event") == "update":
            found.append((lines["id"], lines["data"]))
    return found


def curl(address):
    # Ends with 28 at its time limit.
    done = subprocess.run(["curl", "--silent", "--no-buffer", "--include", "--compressed", "--max-time", str(SECONDS), address],
                          capture_output=True, text=True)
    head, _, body = done.stdout.replace("\r\n", "\n").partition("\n\n")
    return "gzip" if re.search("(?i)^content-encoding: gzip$", head, re.M) else None, updates(body)


def urllib_with_zlib(address):
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    reader, text, end = zlib.decompressobj(31), b"", time.monotonic() + SECONDS
    with urllib.request.urlopen(request, timeout=20) as response:
        while time.monotonic() < end:
            text += reader.decompress(response.read1(65536))
        return response.headers["Content-Encoding"], updates(text.decode())


def httpx_stream(address):
    text, end = "", time.monotonic() + SECONDS
    with httpx.stream("GET", address, headers={"Accept-Encoding": "gzip"}, timeout=20) as response:
        for part in response.iter_text():
            text += part
            if time.monotonic() > end:
                break
        return response.headers.get("content-encoding"), updates(text)


def chromium(address):
    with opened(address.removesuffix(PATH) + "/assets/gateway-hub.js") as page:
        page.wait("location.pathname.startsWith('/assets/') && document.readyState === 'complete'")
        page.see(IN_A_PAGE % (PATH, PATH))
        page.wait(f"seen.length >= {LEAST_UPDATES} && window.encoding !== undefined")
        return page.see("encoding"), [tuple(event) for event in page.see("seen")]


def firefox_page(address):
    program = next(filter(None, map(shutil.which, ["firefox-esr", "firefox"])), None)
    with firefox.browsing(program) as browser:
        tab = browser.tab(address.removesuffix(PATH) + "/assets/gateway-hub.js")
        browser.see(tab, IN_A_PAGE % (PATH, PATH))
        browser.wait(tab, f"seen.length >= {LEAST_UPDATES} && window.encoding !== undefined")
        return browser.see(tab, "encoding"), [tuple(event) for event in browser.see(tab, "seen")]


def plain(address, is_over):
    """The updates of an uncompressed stream, until the others are over."""
    text = b""
    request = urllib.request.Request(address, headers={"Accept-Encoding": "identity"})
    with urllib.request.urlopen(request, timeout=20) as response:
        if response.headers["Content-Encoding"]:
            raise RuntimeError("a stream that does not accept gzip is compressed")
        while not is_over.is_set():
            text += response.read1(65536)
    return updates(text.decode())


@contextlib.contextmanager
def proxy(program, configuration, *arguments):
    """A proxy with a configuration for the port that it gets; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "configuration")
        file.write_text(configuration.replace("PORT", str(port)))
        process = subprocess.Popen([program, *arguments, file], env={"HOME": folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    break
                if process.poll() is not None:
                    raise RuntimeError(f"{program} did not start")
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def nginx(program, address):
    with cached.cache(program, address) as port:
        yield f"http://127.0.0.1:{port}"


def haproxy(program, address):
    # Without the search for gateways, which needs a DNS server.
    text = (TESTS.parent / "docker/haproxy.cfg").read_text().replace("bind :8080", "bind 127.0.0.1:PORT")
    text = re.sub(r"resolvers docker\n.*\n", "", text)
    text = re.sub(r"server-template .*", f"server gateway {address.removeprefix('http://')}", text)
    return proxy(program, text, "-f")


def caddy(program, address):
    text = (TESTS.parent / "Examples/proxy/Caddyfile").read_text().replace("gateway.example.com", "http://127.0.0.1:PORT")
    text = text.replace("127.0.0.1:8080", address.removeprefix("http://"))
    return proxy(program, "{\n\tadmin off\n}\n" + text, "run", "--adapter", "caddyfile", "--config")


CLIENTS = [curl, urllib_with_zlib, httpx_stream]
BROWSERS = [chromium, firefox_page]
PROXIES = [nginx, haproxy, caddy]


def compare(name, result, all_updates):
    """A failure unless a compressed stream got an uninterrupted part of the uncompressed one."""
    encoding, found = result
    if encoding != "gzip":
        raise RuntimeError(f"{name}: the stream is not compressed: {encoding}")
    # The first values have the ids of the joiner.
    found = [event for event in found if '"snapshot":true' not in event[1]]
    if len(found) < LEAST_UPDATES:
        raise RuntimeError(f"{name}: {len(found)} updates only")
    if found[0] not in all_updates:
        raise RuntimeError(f"{name}: an unknown event: {found[0]}")
    start = all_updates.index(found[0])
    if found != all_updates[start : start + len(found)]:
        raise RuntimeError(f"{name}: other events than uncompressed: {found} instead of {all_updates[start:]}")


def main(binary):
    with gateway.demo(binary) as (address, _), contextlib.ExitStack() as running:
        ways = [("direct", address)]
        for way in PROXIES:
            if program := server(way.__name__):
                ways.append((way.__name__, running.enter_context(way(program, address))))
        jobs = [(f"{client.__name__}, {way}", client, base + PATH) for way, base in ways for client in CLIENTS]
        jobs += [(f"{browser.__name__}, direct", browser, address + PATH) for browser in BROWSERS]
        with concurrent.futures.ThreadPoolExecutor(len(jobs) + 1) as pool:
            is_over = threading.Event()
            baseline = pool.submit(plain, address + PATH, is_over)
            results = [(name, pool.submit(client, place)) for name, client, place in jobs]
            try:
                concurrent.futures.wait(result for _, result in results)
            finally:
                is_over.set()
            for name, result in results:
                compare(name, result.result(), baseline.result())
    print(f"compressed: {len(jobs)} streams of {len(CLIENTS)} clients and {len(BROWSERS)} browsers, by {len(ways) - 1} proxies")


if __name__ == "__main__":
    gateway.script("compressed", main)
