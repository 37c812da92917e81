"""Builds, starts and stops the measured processes, each on one core."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRODUCT = os.path.dirname(os.path.dirname(FOLDER))
SERVER_CORE = 0
LOAD_CORE = min(1, (os.cpu_count() or 1) - 1)
GATEWAY = os.path.join(PRODUCT, ".build", "release", "lightstreamer-gateway")
# An installed nginx with its module, or what `.ci/setup tests` unpacked.
ROOT = next((root for root in ("/", os.path.join(PRODUCT, ".tools"))
             if os.path.exists(os.path.join(root, "usr/lib/nginx/modules/ngx_nchan_module.so"))), "/")
NCHAN = os.path.join(ROOT, "usr/lib/nginx/modules/ngx_nchan_module.so")
NGINX = os.path.join(ROOT, "usr/sbin/nginx")


def build(*products, package=FOLDER):
    """Builds products of a package, this one or the outer one, for release."""
    for product in products:
        command = ["swift", "build", "-c", "release", "--package-path", package, "--product", product]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stdout)


def build_gateway():
    """Builds the gateway for release."""
    build("lightstreamer-gateway", package=PRODUCT)


def binary(product):
    """The path of a built product."""
    return os.path.join(FOLDER, ".build", "release", product)


def pinned(core, *command):
    """The command, run on one core only."""
    return ["taskset", "-c", str(core), *map(str, command)]


class Server:
    """A running server: its port, and the process to measure."""

    def __init__(self, port, pid, notes=None):
        self.port = port
        self.pid = pid
        self.notes = notes or {}

    def load(self, **options):
        """Runs the load generator against the server and returns its results."""
        arguments = []
        for name, value in dict(options, port=self.port, pid=self.pid).items():
            if value is not None:
                arguments += ["--" + name.replace("_", "-"), value]
        command = pinned(LOAD_CORE, binary("LoadGenerator"), *arguments)
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found = json.loads(done.stdout)
        found["rate"] = found["events"] / found["seconds"]
        found["cost"] = found["cpu"] / max(1, found["events"]) * 1e6
        return found


    def read_until(self, path, mark):
        """Reads a stream until a mark."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            last = b""
            while mark not in last:
                more = connection.recv(1 << 20)
                if not more:
                    raise SystemExit("the stream ended early")
                last = last[-len(mark):] + more


def stop(process):
    """Ends a process and waits for it."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def server(product, core=SERVER_CORE, **options):
    """One of our servers. Its first line is `port` and a number, followed by other pairs of names and values."""
    arguments = []
    for name, value in options.items():
        arguments += ["--" + name, value]
    process = subprocess.Popen(pinned(core, binary(product), *arguments), stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline().split()
        notes = dict(zip(line[::2], line[1::2]))
        if "port" not in notes:
            raise SystemExit(f"{product} did not start")
        yield Server(int(notes["port"]), process.pid, notes)
    finally:
        stop(process)


@contextlib.contextmanager
def gateway(upstream, *settings, program=GATEWAY):
    """The gateway over one upstream named `bench`."""
    command = pinned(SERVER_CORE, program, "serve")
    command += ["--port", "0", "--upstream", f"bench={upstream},DEMO"]
    for setting in settings:
        command += ["--set", setting]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("gateway: "):
            raise SystemExit("the gateway did not start")
        yield Server(int(line.rsplit(":", 1)[1]), process.pid)
    finally:
        stop(process)


def has_nchan():
    """Whether nginx and its nchan module are installed."""
    return os.path.exists(NGINX) and os.path.exists(NCHAN)


NGINX_CONFIGURATION = """
load_module {module};
daemon off;
user {user};
worker_processes 1;
worker_rlimit_nofile 20000;
pid {folder}/pid;
error_log {folder}/errors;
events {{ worker_connections 16000; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    tcp_nodelay on;
    server {{
        listen 127.0.0.1:{port} {secure} backlog=4096;
        {certificate}
        location = /publish {{ nchan_publisher; nchan_channel_id bench; nchan_message_timeout 10s; }}
        location = /stream/0 {{ nchan_subscriber eventsource; nchan_channel_id bench; }}
        location = /items/publish {{
            nchan_publisher; nchan_channel_id $arg_item; nchan_message_timeout 10s; nchan_message_buffer_length 1000;
        }}
        location = /items/stream {{
            nchan_subscriber eventsource; nchan_channel_id $arg_item; nchan_subscriber_first_message newest;
        }}
        location = /empty {{ return 404; }}
    }}
}}
"""


NGINX_CERTIFICATE = "ssl_protocols TLSv1.3; ssl_certificate {}; ssl_certificate_key {};"


@contextlib.contextmanager
def nchan(certificate=None):
    """nginx with nchan: one worker, its own configuration, a free port; with TLS if a certificate and its key are given."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "nginx.conf")
    user = "root" if os.geteuid() == 0 else os.environ.get("USER", "nobody")
    values = {"module": NCHAN, "user": user, "folder": folder, "port": port, "secure": "", "certificate": ""}
    if certificate:
        values.update(secure="ssl", certificate=NGINX_CERTIFICATE.format(*certificate))
    with open(path, "w", encoding="ascii") as file:
        file.write(NGINX_CONFIGURATION.format(**values))
    # The module opens Debian's folder for bodies beside the one of the configuration; unpacked, the package has none.
    os.makedirs("/var/lib/nginx", exist_ok=True)
    command = pinned(SERVER_CORE, NGINX, "-c", path, "-e", os.path.join(folder, "errors"))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Server(port, worker(process.pid, port))
    finally:
        stop(process)
        shutil.rmtree(folder)


def worker(master, port):
    """The process id of nginx's only worker, once it listens."""
    for _ in range(100):
        time.sleep(0.05)
        try:
            with open(f"/proc/{master}/task/{master}/children", encoding="ascii") as file:
                children = file.read().split()
            with socket.create_connection(("127.0.0.1", port), 1):
                return int(children[0])
        except (OSError, IndexError):
            continue
    raise SystemExit("nginx did not start")
