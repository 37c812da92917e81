"""20,000 long polls of one table through the cache of nginx; requests a second that reach the gateway"""

import os
import shutil
import sys

from processes import PRODUCT, build_gateway
from results import table

sys.path.insert(0, os.path.join(PRODUCT, "Tests/Examples"))

import cached

CASES = [1000, 20_000]


def run(options):
    """Counts the requests of two numbers of clients."""
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if nginx is None:
        raise SystemExit("nginx is not installed")
    build_gateway()
    gateway = os.path.join(PRODUCT, ".build/release/lightstreamer-gateway")
    found = {}
    rows = []
    for polls in CASES:
        requests, responses = cached.measure(gateway, nginx, polls, max(options.seconds, 10), settled=5)
        found[polls] = requests
        rows.append([f"{polls:,}", f"{requests:.2f}", f"{responses:,.0f}"])
    table(["polls", "requests a second at the gateway", "responses a second"], rows)
    return found
