"""The built program as a child process of a test script, and the frame of such scripts."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.error
import urllib.request


@contextlib.contextmanager
def demo(binary, *arguments, port="0"):
    """A gateway with a demo server; gives its address and its process."""
    process = subprocess.Popen(
        [binary, "demo", "--port", port, "--demo-port", "0", "--log-level", "error", *arguments],
        stdout=subprocess.PIPE, text=True,
    )
    try:
        line = process.stdout.readline()
        if not line.startswith("gateway: "):
            raise RuntimeError(f"the gateway did not start: {line}")
        yield line.split()[1], process
    finally:
        process.terminate()
        process.wait()


def server(name):
    """A program of another project, installed or unpacked by `.ci/setup tests`; None if it does not run here."""
    unpacked = pathlib.Path(__file__).resolve().parents[2] / ".tools/usr"
    places = [os.environ["PATH"], "/usr/sbin", *(str(unpacked / folder) for folder in ("bin", "sbin"))]
    program = shutil.which(name, path=os.pathsep.join(places))
    option = "version" if name == "caddy" else "--version" if name == "promtool" else "-v"
    runs = program and subprocess.run([program, option], capture_output=True, timeout=60).returncode == 0
    return program if runs else None


def get(address, key=None):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
        return json.load(answer)


def post(address, text):
    with urllib.request.urlopen(urllib.request.Request(address, data=text.encode()), timeout=10) as answer:
        return answer.read().decode()


def delete(address):
    """Deletes a resource, unless it is gone already."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="DELETE"), timeout=10)
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise


def streams(address, key=None):
    return get(address + "/v1/streams", key)["streams"]


def run(checks, *arguments):
    """Calls each check with the arguments; the first that fails ends the run, under its name."""
    for check in checks:
        try:
            check(*arguments)
        except Exception as problem:
            raise RuntimeError(f"{check.__name__}: {problem}") from problem


def script(title, main):
    """Calls `main` with the argument of the script, if it has one. Every failure is the result of the script."""
    try:
        main(*sys.argv[1:2])
    except Exception as problem:
        sys.exit(f"{title}: {problem}")
