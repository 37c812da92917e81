"""TLS 1.3: one event to 1,000 streams, and full handshakes, each with one request; CPU of the server beside nginx with nchan"""

import contextlib
import os
import subprocess
import tempfile

from processes import build, has_nchan, nchan, server
from results import interleaved, median, ratio, table

STREAMS, RATE = 1000, 20
FAN_OUT = f"{STREAMS:,} × {RATE}/s"
HANDSHAKES = "handshakes"


@contextlib.contextmanager
def certificate():
    """The paths of a new certificate for ECDSA with P-256, and of its key."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("certificate.pem", "key.pem")]
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-subj", "/CN=127.0.0.1", "-days", "2", "-out", paths[0], "-keyout", paths[1]]
        subprocess.run(command, check=True, capture_output=True)
        yield paths


def run(options):
    """Measures both loads."""
    build("HubServer", "LoadGenerator")
    with certificate() as (chain, key):

        def gateway(rate):
            return server("HubServer", rate=rate, certificate=chain, key=key)

        def fan_out(make, **load):
            with make as running:
                return running.load(streams=STREAMS, seconds=options.seconds, path="/stream/0", **load)

        def handshakes(make):
            with make as running:
                return running.load(handshakes=1, tls=1, seconds=options.seconds, path="/empty")

        cases = {
            FAN_OUT: {
                "gateway": lambda: fan_out(gateway(RATE), tls=1),
                "gateway without TLS": lambda: fan_out(server("HubServer", rate=RATE)),
            },
            HANDSHAKES: {"gateway": lambda: handshakes(gateway(0))},
        }
        if has_nchan():
            def nginx():
                return nchan((chain, key))

            cases[FAN_OUT] = {
                "nginx": lambda: fan_out(nginx(), tls=1, publish_path="/publish", publish_rate=RATE),
                **cases[FAN_OUT],
            }
            cases[HANDSHAKES] = {"nginx": lambda: handshakes(nginx()), **cases[HANDSHAKES]}
        else:
            print("nginx is left out: libnginx-mod-nchan is not installed\n")
        results = {case: interleaved(options.runs, contenders) for case, contenders in cases.items()}
    rows = []
    found = {}
    for case, contenders in results.items():
        base = next(iter(contenders.values()))
        if "nginx" in contenders:
            found[case] = ratio(contenders["gateway"], base, "cost")
        for name, runs in contenders.items():
            figures = [f"{ratio(runs, base, figure):.2f}" for figure in ("cost", "p50", "p99")]
            rate = f"{1e6 / median(runs, 'cost'):,.0f}"
            rows.append([case, name, f"{median(runs, 'cost'):.1f}", rate, *figures])
    table(["case", "server", "µs of CPU", "a second of CPU", "CPU", "p50", "p99"], rows)
    return found
