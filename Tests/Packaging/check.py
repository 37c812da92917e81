"""The artefacts of a release, made of a debug binary: package, archive, bill of materials, files of the image, chart.

    python check.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1. `Tests/Packaging/install` installs a package in a chroot.
"""

import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from helm_python.chart import Chart, lint

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "docker/helm/lightstreamer-gateway"
sys.path.insert(0, str(ROOT / "Tests/Browser"))

import gateway


def expect(condition, words):
    if not condition:
        raise RuntimeError(words)


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    expect(done.returncode == status, f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def version():
    return run(ROOT / ".ci/set-version", "--print").strip()


# MARK: - Versions


def all_places_have_one_version(binary, folder):
    run(ROOT / ".ci/set-version")
    expect(run(binary, "--version").strip() == version(), "the binary has another version")


# MARK: - Package and archive


def two_builds_are_equal(binary, folder):
    """Of one binary, at any time and in any folder."""
    places = [folder / name for name in ("first", "second")]
    for place in places:
        run(ROOT / ".ci/package", "--quick", "--binary", binary, "--output", place, cwd="/",
            env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TZ": "UTC" if place == places[0] else "Asia/Tokyo"})
    sums = [(place / "SHA256SUMS").read_text() for place in places]
    expect(sums[0] == sums[1], f"{sums[0]} is not {sums[1]}")
    for line in sums[0].splitlines():
        digest, name = line.split("  ")
        expect(hashlib.sha256((places[0] / name).read_bytes()).hexdigest() == digest, f"the digest of {name} is wrong")
    print(f"packaging: {len(sums[0].splitlines())} artefacts, twice with the same digests")


def built(folder, pattern):
    file, = (folder / "first").glob(pattern)
    return file


def the_package_has_what_it_should(binary, folder):
    package = built(folder, "*.deb")
    root = folder / "root"
    run("dpkg-deb", "-x", package, root)
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "-f", package).splitlines() if not line.startswith(" "))
    expect(fields["Version"] == version() and "libmicrohttpd12" in fields["Depends"], f"control: {fields}")
    rows = run("dpkg-deb", "-c", package).splitlines()
    expect(all(row.split()[1] == "root/root" for row in rows), "files of another owner")
    program = root / "usr/bin/lightstreamer-gateway"
    expect(run(program, "--version").strip() == version(), "another program")
    run(program, "check", "--config", root / "etc/lightstreamer-gateway/gateway.yaml")
    for script in ("postinst", "prerm", "postrm"):
        run("sh", "-n", ROOT / ".ci/packaging" / script)
    if shutil.which("systemd-analyze"):
        copy = folder / "lightstreamer-gateway.service"
        copy.write_text((root / "lib/systemd/system" / copy.name).read_text().replace("/usr/bin/lightstreamer-gateway", str(program)))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=60)
        wrong = [line for line in done.stderr.splitlines() if copy.name in line]
        expect(not wrong, f"the unit is not valid: {wrong}")


def the_manual_page_has_all_commands(binary, folder):
    page = gzip.decompress((folder / "root/usr/share/man/man1/lightstreamer-gateway.1.gz").read_bytes()).decode()
    commands = re.findall(r"^  ([a-z-]+) {2,}\S", run(binary, "--help").split("SUBCOMMANDS:")[1], re.M)
    shown = [name.replace("\\-", "-") for name in re.findall(r"^\.SS (.*)$", page, re.M)]
    expect(commands and shown == commands, f"{shown} are not {commands}")
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-Kutf8"], input=page, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0 and not done.stderr, f"groff: {done.stderr}")


def bash_completes_commands(binary, folder):
    script = folder / "root/usr/share/bash-completion/completions/lightstreamer-gateway"
    words = run("bash", "-c", f"""source {script}
        COMP_WORDS=(lightstreamer-gateway wa) COMP_CWORD=1 COMP_LINE='lightstreamer-gateway wa' COMP_POINT=24
        $(complete -p lightstreamer-gateway | grep -o '_[a-z_-]*gateway' | tail -n 1) lightstreamer-gateway wa lightstreamer-gateway
        echo "${{COMPREPLY[@]}}" """)
    expect(words.split() == ["watch"], f"completed: {words}")


def the_archive_has_one_folder(binary, folder):
    with tarfile.open(built(folder, "*.tar.gz")) as tar:
        names = tar.getnames()
        tops = {name.split("/")[0] for name in names}
        expect(len(tops) == 1 and version() in tops.pop(), f"folders: {tops}")
        expect({member.mtime for member in tar.getmembers()} == {1700000000}, "other times")
    for name in ("bin/lightstreamer-gateway", "LICENSE", "sbom.cdx.json", "share/man/man1/lightstreamer-gateway.1.gz"):
        expect(any(path.endswith("/" + name) for path in names), f"{name} is not in the archive")


# MARK: - Bill of materials


def the_bill_of_materials_is_complete(binary, folder):
    text = built(folder, "*.cdx.json").read_text()
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    expect(problem is None, f"no document of CycloneDX: {problem}")
    components = {component["name"]: component for component in json.loads(text)["components"]}
    locked = dict(line.split() for line in (ROOT / ".ci/versions.txt").read_text().splitlines())
    expect({name: components[name]["version"] for name in locked} == locked, "other Swift packages")
    expect(all("licenses" in components[name] for name in locked), "a Swift package without a licence")
    expect({"libmicrohttpd12", "libgnutls30", "libc6"} <= set(components), f"libraries: {sorted(components)}")
    print(f"packaging: {len(components)} components in the bill of materials")


def licences_are_those_of_the_build(binary, folder):
    """Also if the build has another scratch folder."""
    scratch = folder / "scratch"
    (scratch / "checkouts/swift-nio").mkdir(parents=True)
    (scratch / "checkouts/swift-nio/LICENSE.txt").write_text("Permission is hereby granted, free of charge, to any person")
    (scratch / "release").mkdir()
    copy = shutil.copy(binary, scratch / "release")
    bill = json.loads(run("python3", ROOT / ".ci/packaging/sbom.py", version(), copy, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}))
    found = {component["name"]: component.get("licenses") for component in bill["components"]}
    expect(found["swift-nio"] == [{"license": {"id": "MIT"}}], f"the licence of another build: {found['swift-nio']}")


# MARK: - Image


def the_files_of_the_image_run_alone(binary, folder):
    """As a container does it: in a root of its own, with /dev and /proc, as a user without rights."""
    root = folder / "image"
    run(ROOT / "docker/rootfs", binary, root)
    expect(not (root / "bin/sh").exists(), "a shell is in the image")
    large = [file.name for file in root.rglob("libFoundation*") if file.name != "libFoundationEssentials.so"]
    expect(not large, f"data of all languages are in the image: import FoundationEssentials instead of {large}")
    libraries = sum(file.stat().st_size for file in root.rglob("*") if file.is_file() and not re.search("swift|Foundation|lightstreamer", file.name))
    print(f"packaging: the image has {libraries / 1e6:.1f} MB beside the program and the libraries of Swift")
    if os.geteuid() or not shutil.which("unshare"):
        return
    command = f"""set -e
        mkdir -p {root}/dev {root}/proc && mount --rbind /dev {root}/dev && mount --bind /proc {root}/proc
        exec chroot --userspec 10001:10001 {root} /usr/local/bin/lightstreamer-gateway demo --host 127.0.0.1 --port 0 --demo-port 0"""
    with started("unshare", "--mount", "bash", "-c", command) as address:
        with urllib.request.urlopen(address + "/health/ready", timeout=20) as answer:
            expect(answer.status == 200, "not ready")


def the_image_is_not_made_without_a_library(binary, folder):
    """A library that the loader does not find has no path, and was left out."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "ldd").write_text("#!/bin/sh\necho 'libc.so.6 => /bin/sh (0x0)'; echo 'libnats.so.3.4 => not found'\n")
    (tools / "ldd").chmod(0o755)
    run(ROOT / "docker/rootfs", binary, folder / "incomplete", status=1, env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"})


def commands_end_by_signals_as_the_first_process(binary, folder):
    """The kernel drops the signals of the first process of a container that has no handler for them."""
    if os.geteuid() or not shutil.which("unshare"):
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        command = ("unshare", "--pid", "--fork", "--kill-child", binary, "watch", "--gateway", "http://127.0.0.1:1", "item1", "bid")
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                line = process.stderr.readline()
                expect("Trying again" in line, f"watch does not run: {line}")
                child, = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                os.kill(int(child), number)
                expect(process.wait(30) == 128 + number, f"ended with {process.returncode} by {number.name}")
            finally:
                process.kill()


@contextlib.contextmanager
def started(*command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "LLVM_PROFILE_FILE": "/dev/null"})
    try:
        line = process.stdout.readline()
        expect(line.startswith("gateway: "), f"the gateway did not start: {line}")
        yield line.split()[1]
    finally:
        process.terminate()
        process.wait()


def compose_files_pin_and_harden_their_images(binary, folder):
    """Images of others have a version, that of this repository is built; services have no rights to lose, and gateways a valid
    configuration."""
    secret = folder / "compose-secret"
    secret.write_text("a secret of more than thirty-two bytes")
    for name in ("compose.yaml", "compose.cluster.yaml"):
        for title, service in yaml.safe_load((ROOT / "docker" / name).read_text())["services"].items():
            is_own = service["image"] == "lightstreamer-gateway"
            expect("build" in service if is_own else re.search(r":v?\d+\.\d+", service["image"]),
                   f"{name}: {title} is not built, or any version of {service['image']}")
            if "profiles" in service:
                continue
            expect(service.get("read_only") and service.get("cap_drop") == ["ALL"]
                   and service.get("security_opt") == ["no-new-privileges:true"], f"{name}: {title} has too many rights")
            if is_own and service["command"][0] == "serve":
                files = dict.fromkeys(service.get("environment", {}), str(secret))
                run(binary, "check", *service["command"][1:], env={**os.environ, **files})


# MARK: - Chart

CLUSTER = {
    "replicaCount": 3,
    "config": {
        "http": {"host": "0.0.0.0", "port": 9000},
        "auth": {"keys": {"backend": {"hash": "sha256:" + "0" * 64}}},
        "upstreams": {"demo": {"serverAddress": "https://push.example.com", "passwordFile": "PASSWORD"}},
        "cluster": {"engine": "nats", "url": "nats://nats:4222", "secretFile": "SECRET"},
    },
    "secrets": {"demo-password": "text", "cluster-secret": "a secret of more than thirty-two bytes"},
    "ingress": {"enabled": True, "host": "quotes.example.com", "tlsSecret": "tls"},
    "image": {"pullSecrets": ["registry"]},
    "tolerations": [{"key": "streaming", "operator": "Exists"}],
}


def rendered(values):
    """The resources of the chart by kind."""
    files = Chart.load(str(CHART)).render(values, name="live", namespace="default")
    documents = [one for file, text in files.items() if file.endswith(".yaml") for one in yaml.safe_load_all(text) if one]
    return {one["kind"]: one for one in documents}


def the_chart_renders(binary, folder):
    found = lint(str(CHART), strict=True)
    expect(not found["errors"] and all(message["severity"] < 2 for message in found["messages"]), f"lint: {found}")
    plain = rendered({})
    expect(set(plain) == {"ConfigMap", "Deployment", "Service"}, f"resources: {sorted(plain)}")
    image = plain["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"]
    expect(image == f"lightstreamer-gateway:{version()}", f"image: {image}")
    pause = plain["Deployment"]["spec"]["template"]["spec"]["containers"][0].get("lifecycle")
    expect(pause == {"preStop": {"sleep": {"seconds": 5}}}, f"the gateway stops while it still receives connections: {pause}")
    several = rendered(CLUSTER)
    expect(set(several) == {"ConfigMap", "Secret", "Deployment", "PodDisruptionBudget", "Service", "Ingress"}, f"resources: {sorted(several)}")
    pod = several["Deployment"]["spec"]["template"]
    expect(several["Deployment"]["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items(), "no pod is selected")
    expect(several["Service"]["spec"]["selector"].items() <= pod["metadata"]["labels"].items(), "the service selects no pod")
    expect(pod["spec"]["containers"][0]["ports"][0]["containerPort"] == 9000, "another port")
    expect(pod["spec"]["enableServiceLinks"] is False, "Services set variables of the gateway")
    expect(pod["spec"]["terminationGracePeriodSeconds"] == 30 and pod["spec"]["tolerations"], f"pod: {pod['spec']}")
    expect(several["Secret"]["metadata"]["name"] == pod["spec"]["volumes"][1]["secret"]["secretName"], "another secret")


def the_chart_refuses_mistakes(binary, folder):
    for values, words in [
        ({"replicaCount": 2}, "config.cluster"), ({"replicaCount": 0}, "replicaCount"), ({"replicas": 2}, "replicas"),
    ]:
        try:
            Chart.load(str(CHART)).validate_schema(values)
            rendered(values)
        except Exception as problem:
            expect(words in str(problem), f"{values}: {problem}")
        else:
            raise RuntimeError(f"{values} are accepted")


def the_configuration_of_the_chart_is_valid(binary, folder):
    resources = rendered(CLUSTER)
    text = resources["ConfigMap"]["data"]["gateway.yaml"]
    for name, file in (("PASSWORD", "demo-password"), ("SECRET", "cluster-secret")):
        path = folder / file
        path.write_text(resources["Secret"]["stringData"][file])
        path.chmod(0o600)
        text = text.replace(name, str(path))
    config = folder / "chart.yaml"
    config.write_text(text)
    run(binary, "check", "--config", config)


CHECKS = [
    all_places_have_one_version, two_builds_are_equal, the_package_has_what_it_should, the_manual_page_has_all_commands,
    bash_completes_commands, the_archive_has_one_folder, the_bill_of_materials_is_complete, licences_are_those_of_the_build,
    the_files_of_the_image_run_alone, the_image_is_not_made_without_a_library, commands_end_by_signals_as_the_first_process,
    compose_files_pin_and_harden_their_images, the_chart_renders, the_chart_refuses_mistakes, the_configuration_of_the_chart_is_valid,
]


def main(binary):
    with tempfile.TemporaryDirectory() as folder:
        gateway.run(CHECKS, str(pathlib.Path(binary).resolve()), pathlib.Path(folder))
    print(f"packaging: {len(CHECKS)} checks")


if __name__ == "__main__":
    gateway.script("packaging", main)
