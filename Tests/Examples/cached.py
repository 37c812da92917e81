"""Counts the requests that reach a gateway behind `Examples/proxy/nginx.conf` while many clients poll one table.

    python cached.py .build/debug/lightstreamer-gateway [POLLS] [SECONDS]

Each client sends a long poll, reads the values, and sends the next one to the URL that the response names.
"""

import contextlib
import getpass
import json
import multiprocessing
import pathlib
import re
import select
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "Browser"))

import gateway

PATH = "/v1/values?items=item1,item2&fields=last_price,time"
# The settings that the example names.
SETTINGS = ("--set", "values.cacheMaxAge=1", "--set", "values.cacheStale=30")
MOST_CLIENTS = 5000  # of one process
MOST_REQUESTS = 2  # a second, however many clients poll
COUNTER = re.compile(rb'http_requests_total\{route="readValues",method="GET",status="200"\} (\d+)')


def configuration(address, port, folder):
    """The example, for plain HTTP on a port, in a folder of its own."""
    text = (TESTS.parent / "Examples/proxy/nginx.conf").read_text()
    for pattern, replacement in (
        (r"server 127\.0\.0\.1:8080;", f"server {address.removeprefix('http://')};"),
        (r"listen 443 ssl http2;", f"listen 127.0.0.1:{port} backlog=4096;"),
        (r"ssl_certificate\S* \S+;", ""), (r"/var/cache/nginx", folder), (r"server_name \S+;", ""),
        (r"worker_connections \d+;", "worker_connections 16000;"),
        # The gateway accepts the name of its host alone.
        (r"proxy_set_header Host \$host;", "proxy_set_header Host 127.0.0.1;"),
    ):
        text, count = re.subn(pattern, replacement, text)
        if not count:
            raise RuntimeError(f"the example has no {pattern}")
    temporary = "".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    text = text.replace("http {", f"http {{ access_log off; keepalive_requests 1000000000; {temporary}", 1)
    return (f"daemon off; user {getpass.getuser()}; worker_processes 4;"
            f"pid {folder}/pid; error_log {folder}/log;\n{text}")


@contextlib.contextmanager
def cache(nginx, address):
    """An nginx with the example's configuration in front of a gateway; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "nginx.conf")
        file.write_text(configuration(address, port, folder))
        process = subprocess.Popen([nginx, "-p", folder, "-c", file], stderr=subprocess.PIPE, text=True)
        try:
            while True:
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                    break
                if process.poll() is not None:
                    raise RuntimeError(f"nginx did not start: {process.stderr.read()}")
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()
            process.wait()


class Client:
    """A client that polls over one connection."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)
        self.received = b""
        self.values = 0
        self.ask(PATH.encode())

    def ask(self, path):
        self.socket.send(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def read(self):
        """Reads; after a whole response, asks for the next values. Raises for a response other than 200."""
        more = self.socket.recv(65536)
        if not more:
            raise RuntimeError("nginx closed the connection of a client")
        self.received += more
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found or len(body) < int(re.search(rb"(?i)content-length: (\d+)", head)[1]):
            return
        self.received = b""
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"not values: {head[:200]} {body[:200]}")
        json.loads(body)
        self.values += 1
        self.ask(re.search(rb"(?i)link: <([^>]+)>", head)[1])


def count(address):
    with urllib.request.urlopen(address + "/metrics", timeout=10) as answer:
        found = COUNTER.search(answer.read())
        return int(found[1]) if found else 0


def poll(clients, seconds):
    """Lets clients poll for a time."""
    waiting = select.epoll()
    for client in clients:
        waiting.register(client.socket, select.EPOLLIN)
    by_number = {client.socket.fileno(): client for client in clients}
    start = time.monotonic()
    while (now := time.monotonic()) < start + seconds:
        for number, _ in waiting.poll(start + seconds - now):
            by_number[number].read()


def group(port, polls, seconds, settled, pipe):
    """Runs clients; sends the number that are connected, then their responses in the measured time and the silent ones."""
    clients = [Client(port) for _ in range(polls)]
    pipe.send(len(clients))
    # The first polls arrive while the cache is empty.
    poll(clients, settled)
    before = sum(client.values for client in clients)
    poll(clients, seconds)
    pipe.send((sum(client.values for client in clients) - before, sum(client.values == 0 for client in clients)))


def measure(binary, nginx, polls, seconds, settled=2):
    """The requests a second at the gateway, and the responses a second that the clients got, with cached values."""
    with gateway.demo(binary, *SETTINGS) as (address, _), cache(nginx, address) as port:
        groups = []
        # A process has fewer descriptors than all clients need.
        for first in range(0, polls, MOST_CLIENTS):
            ours, theirs = multiprocessing.Pipe()
            arguments = (port, min(MOST_CLIENTS, polls - first), seconds, settled, theirs)
            process = multiprocessing.Process(target=group, args=arguments, daemon=True)
            process.start()
            groups.append((ours, process))
        for pipe, _ in groups:
            pipe.recv()
        time.sleep(settled)
        before = count(address)
        time.sleep(seconds)
        requests = (count(address) - before) / seconds
        results = [pipe.recv() for pipe, _ in groups]
        for _, process in groups:
            process.join()
        silent = sum(silent for _, silent in results)
        if silent:
            raise RuntimeError(f"{silent} of {polls} clients got no values")
        return requests, sum(values for values, _ in results) / seconds


def main(binary, polls="20000", seconds="20"):
    nginx = "/usr/sbin/nginx"
    requests, responses = measure(binary, nginx, int(polls), float(seconds))
    print(f"{int(polls):,} long polls: {requests:.2f} requests a second at the gateway, {responses:,.0f} responses a second")
    if requests > MOST_REQUESTS:
        raise RuntimeError(f"more than {MOST_REQUESTS} requests a second at the gateway")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RuntimeError as problem:
        sys.exit(f"cached: {problem}")
