"""Executes or checks every file of `Examples` against a demo gateway.

    python check.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import yaml

TESTS = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = TESTS.parent / "Examples"
sys.path.insert(0, str(TESTS / "Browser"))

import cached
import gateway
from browser import opened
from gateway import server
from pages import other_origin


def expect(condition, words):
    if not condition:
        raise RuntimeError(words)


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
    expect(done.returncode == status, f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def python_follows(address, binary):
    lines = run(sys.executable, EXAMPLES / "python/follow.py", address, "6").splitlines()
    expect(len(lines) == 6 and "last_price" in lines[0], f"not six updates: {lines}")


def shell_follows(address, binary):
    lines = run("bash", EXAMPLES / "shell/follow.sh", address, "4").splitlines()
    expect(lines and all(re.fullmatch(r"item[12] [\d.]*", line) for line in lines), f"not prices: {lines}")


def keys_are_rotated(address, binary):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "environment")
        file.write_text("GATEWAY_HTTP_PORT=0\n")
        keys = [
            run("bash", EXAMPLES / "shell/rotate-key.sh", "backend", file, env={**os.environ, "GATEWAY_BINARY": binary})
            for _ in range(2)
        ]
        settings = dict(line.split("=", 1) for line in file.read_text().splitlines())
        for key, name in zip(keys, ("BACKEND_OLD", "BACKEND")):
            printed = run(binary, "key", "--hash", input=key)
            expect(settings[f"GATEWAY_AUTH_KEYS_{name}_HASH"] in printed, f"not the hash of the key: {printed}")
        configuration = pathlib.Path(folder, "gateway.yaml")
        script = (EXAMPLES / "shell/rotate-key.sh").read_text()
        text = "".join(line.removeprefix("#   ") for line in re.findall(r"^#   (?:auth:| ).*\n", script, re.MULTILINE))
        configuration.write_text(text.replace("NAME", "backend") + "upstreams: {demo: {serverAddress: http://a}}\n")
        # The former key was a variable without a setting: it was refused at the next start.
        command = [binary, "check", "--config", configuration]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **settings})
        expect(done.returncode == 0 and not done.stderr, f"the keys are not those of the configuration: {done.stderr}")


def certificates_are_rotated(address, binary):
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
        for name in ("fullchain.pem", "privkey.pem"):
            pathlib.Path(source, name).write_text(name)
        run("bash", EXAMPLES / "shell/rotate-certificate.sh", source, target)
        expect(pathlib.Path(target, "key.pem").read_text() == "privkey.pem", "not the new key")
        pathlib.Path(source, "privkey.pem").write_text("renewed")
        hook = {**os.environ, "RENEWED_LINEAGE": source}
        run("bash", EXAMPLES / "shell/rotate-certificate.sh", "", target, env=hook)
        expect(pathlib.Path(target, "key.pem").read_text() == "renewed", "not the key of the hook")


MANIFESTS = ("kubernetes/gateway.yaml", "kubernetes/cluster.yaml")


def manifest(name):
    """The documents of a manifest by kind and name."""
    return {(document["kind"], document["metadata"]["name"]): document
            for document in yaml.safe_load_all((EXAMPLES / name).read_text())}


def configurations_pass_the_check(address, binary):
    embedded = [manifest(name)["ConfigMap", "lightstreamer-gateway"]["data"]["gateway.yaml"] for name in MANIFESTS]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "demo-password").write_text("secret")
        pathlib.Path(folder, "cluster-secret").write_text("0123456789abcdef")
        for text in ((EXAMPLES / "gateway.yaml").read_text(), *embedded):
            file = pathlib.Path(folder, "gateway.yaml")
            file.write_text(re.sub(r"/run/secrets/(gateway/)?", folder + "/", text))
            run(binary, "check", "--config", file)


def manifests_fit_together(address, binary):
    for name in MANIFESTS:
        documents = manifest(name)
        for (kind, title), document in documents.items():
            if kind not in ("Deployment", "StatefulSet"):
                continue
            pod = document["spec"]["template"]
            labels = pod["metadata"]["labels"]
            expect(documents["Service", title]["spec"]["selector"] == labels, f"the service {title} selects other pods")
            expect(document["spec"]["selector"]["matchLabels"] == labels, f"{kind} {title} selects other pods")
            container = pod["spec"]["containers"][0]
            mounts = {mount["name"] for mount in container["volumeMounts"]}
            volumes = pod["spec"]["volumes"] + [
                claim["metadata"] for claim in document["spec"].get("volumeClaimTemplates", [])]
            expect(mounts == {volume["name"] for volume in volumes}, f"mounts and volumes of {title} differ")
            for volume in pod["spec"]["volumes"]:
                source = ("ConfigMap", volume["configMap"]["name"]) if "configMap" in volume else (
                    "Secret", volume["secret"]["secretName"])
                expect(source in documents, f"{source} is missing")
        pod = documents["Deployment", "lightstreamer-gateway"]["spec"]["template"]["spec"]
        container = pod["containers"][0]
        configuration = yaml.safe_load(documents["ConfigMap", "lightstreamer-gateway"]["data"]["gateway.yaml"])
        expect(pod["enableServiceLinks"] is False, f"{name}: Services set variables of the gateway")
        pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        expect(0 < pause and pause + configuration["shutdown"]["grace"] < pod["terminationGracePeriodSeconds"],
               "a pod is killed before its gateway has stopped")
        for probe in ("livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]
            expect(urllib.request.urlopen(address + path, timeout=10).status == 200, f"{path} is not there")


def pods_are_restricted_and_limited(address, binary):
    """What the Pod Security Standard "restricted" demands, and a little more."""
    for name in MANIFESTS:
        documents = manifest(name)
        for (kind, title), document in documents.items():
            if kind not in ("Deployment", "StatefulSet"):
                continue
            pod = document["spec"]["template"]["spec"]
            expect(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
                   and pod["automountServiceAccountToken"] is False, f"{name}: the pod of {title} has too many rights")
            for container in pod["containers"]:
                context = container["securityContext"]
                expect(context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"]
                       and context["capabilities"]["drop"] == ["ALL"], f"{name}: a container of {title} has too many rights")
                expect({"cpu", "memory"} <= set(container["resources"]["requests"]) and container["resources"]["limits"]["memory"],
                       f"{name}: a container of {title} has no limits")
            if document["spec"]["replicas"] > 1:
                expect(("PodDisruptionBudget", title) in documents, f"{name}: {title} has no disruption budget")


def the_engine_of_the_cluster_has_a_valid_configuration(address, binary):
    documents = manifest("kubernetes/cluster.yaml")
    servers = documents["StatefulSet", "nats"]["spec"]["replicas"]
    gateway = yaml.safe_load(documents["ConfigMap", "lightstreamer-gateway"]["data"]["gateway.yaml"])
    expect(gateway["cluster"]["copies"] <= servers, "more copies than servers")
    expect(len(gateway["cluster"]["url"].split(",")) == servers, "the gateways do not know all servers")
    server = shutil.which("nats-server")
    if not server:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "nats.conf")
        text = documents["ConfigMap", "nats"]["data"]["nats.conf"]
        # The example pins a later engine; Debian's 2.9 does not know this setting yet.
        text = text.replace(", sync_interval: always", "")
        file.write_text(text.replace("/data", folder).replace("$SERVER_NAME", "nats-0"))
        run(server, "-t", "-c", file)


def the_unit_is_valid(address, binary):
    unit = EXAMPLES / "systemd/lightstreamer-gateway.service"
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(unit)
    command = parser["Service"]["ExecStart"].split()
    expect(command[1] in run(binary, "--help"), f"no subcommand {command[1]}")
    final = map(int, parser["Service"]["RestartPreventExitStatus"].split())
    for status, options in zip(final, (["--nothing"], ["--config", "/nonexistent"], ["--port", "99999"]), strict=True):
        run(binary, "serve", *options, status=status)
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, unit.name)
        copy.write_text(unit.read_text().replace(command[0], str(pathlib.Path(binary).resolve())))
        done = subprocess.run([analyze, "verify", "--man=no", copy], capture_output=True, text=True, timeout=60)
        wrong = [line for line in done.stderr.splitlines() if unit.name in line]
        expect(not wrong, f"the unit is not valid: {wrong}")


def monitoring_names_metrics_that_exist(address, binary):
    text = urllib.request.urlopen(address + "/metrics", timeout=10).read().decode()
    known = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    # This gateway runs alone: the description of the API has the metrics of a cluster, too.
    known |= set(re.findall(r"^ *- `(\w+)` \(", (TESTS.parent / "openapi.yaml").read_text(), re.M))
    known |= {f"{name}_bucket" for name in known}
    groups = yaml.safe_load((EXAMPLES / "monitoring/alerts.yaml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    panels = json.loads((EXAMPLES / "monitoring/grafana-dashboard.json").read_text())["panels"]
    expressions = [rule["expr"] for rule in rules] + [panel["targets"][0]["expr"] for panel in panels]
    for expression in expressions:
        names = re.findall(r"\b(?:lightstreamer_gateway|process)_\w+", expression)
        expect(names and set(names) <= known, f"unknown metric in {expression}")
        expect(expression.count("(") == expression.count(")"), f"parentheses in {expression}")
    yaml.safe_load((EXAMPLES / "monitoring/prometheus.yaml").read_text())
    # A caller can make a client for an address where nothing listens.
    down = next(rule["expr"] for rule in rules if rule["alert"] == "GatewayUpstreamDown")
    expect('upstream!="(address)"' in down, f"clients by address in {down}")
    for name in re.findall(r"`(lightstreamer_gateway_\w+)`", (TESTS.parent / "SECURITY.md").read_text()):
        expect(any(name in rule["expr"] for rule in rules), f"SECURITY.md tells of rules for {name}")
    if promtool := server("promtool"):
        run(promtool, "check", "rules", EXAMPLES / "monitoring/alerts.yaml")
        first_refusal_is_an_alert(promtool)
        run(promtool, "check", "config", "--syntax-only", EXAMPLES / "monitoring/prometheus.yaml")
        run(promtool, "check", "config", "--syntax-only", TESTS.parent / "docker/prometheus.yaml")


def first_refusal_is_an_alert(promtool):
    labels = {"upstream": "push", "code": "1"}
    name = "lightstreamer_gateway_upstream_server_errors_total"
    summary = "Upstream push refused or closed sessions with code 1."
    alert = {"exp_labels": {"severity": "warning", **labels}, "exp_annotations": {"summary": summary}}
    series = {"series": f'{name}{{upstream="push",code="1"}}', "values": "_x10 1x30"}
    moments = [{"eval_time": time, "alertname": "GatewayServerErrors", "exp_alerts": alerts}
               for time, alerts in [("12m", [alert]), ("35m", [])]]
    test = {"interval": "1m", "input_series": [series], "alert_rule_test": moments}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "test.yaml")
        file.write_text(yaml.safe_dump({"rule_files": [str(EXAMPLES / "monitoring/alerts.yaml")], "tests": [test]}))
        run(promtool, "test", "rules", file)


def nginx_accepts_its_configuration(address, binary):
    text = (EXAMPLES / "proxy/nginx.conf").read_text()
    expect(text.count("{") == text.count("}"), "braces")
    nginx = server("nginx")
    if not nginx:
        return
    with tempfile.TemporaryDirectory() as folder:
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", "/CN=gateway.example.com", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem")
        text = text.replace("/etc/ssl/gateway", folder).replace("http {", "http {\n    access_log off;")
        file = pathlib.Path(folder, "nginx.conf")
        file.write_text(f"pid {folder}/pid;\nerror_log {folder}/log;\n{text}")
        done = subprocess.run([nginx, "-t", "-p", folder, "-c", file], capture_output=True, text=True, timeout=60)
        expect("syntax is ok" in done.stderr, f"nginx: {done.stderr}")


def nginx_asks_the_gateway_once_for_all_polls(address, binary):
    if nginx := server("nginx"):
        # More than 1,024 requests wait for one version.
        requests, responses = cached.measure(binary, nginx, 4000, 4)
        expect(requests <= cached.MOST_REQUESTS, f"{requests} requests a second at the gateway")
        expect(responses > 100, f"{responses} responses a second")


def caddy_and_haproxy_accept_theirs(address, binary):
    text = (EXAMPLES / "proxy/Caddyfile").read_text()
    expect(text.count("{") == text.count("}"), "braces")
    with tempfile.TemporaryDirectory() as folder:
        if caddy := server("caddy"):
            run(caddy, "validate", "--adapter", "caddyfile", "--config", EXAMPLES / "proxy/Caddyfile",
                env={**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder})
        if haproxy := server("haproxy"):
            run(haproxy, "-c", "-q", "-f", TESTS.parent / "docker/haproxy.cfg")


def pages_follow_from_another_origin(address, binary):
    with other_origin(EXAMPLES / "browser") as origin, gateway.demo(binary, "--set", f"cors.origins={origin}") as (other, _):
        with opened(f"{origin}/index.html?gateway={other}") as page:
            page.wait("[...document.querySelectorAll('td')].map((cell) => cell.textContent).filter(Boolean).length",
                      lambda count: count == 9)
            page.go(f"{origin}/elements.html?gateway={other}")
            page.wait("[...document.querySelectorAll('ls-table')].every(({ shadowRoot }) => shadowRoot.querySelector('td')?.textContent)")
            page.go(f"{origin}/portfolio.html?gateway={other}")
            page.wait("document.querySelectorAll('#rows tr').length", lambda count: count >= 3)
            page.wait("[...document.querySelectorAll('#rows td')].every((cell) => cell.textContent)")


def the_module_sends_the_key_and_resumes(address, binary):
    words = run(binary, "key").split()
    key, digest = words[1], words[3]
    with other_origin(EXAMPLES / "browser") as origin, gateway.demo(
        binary, "--auth", "keys", "--set", f"auth.keys.page.hash={digest}", "--set", f"cors.origins={origin}"
    ) as (other, _), opened(f"{origin}/none") as page:
        page.wait("location.pathname === '/none' && document.readyState === 'complete'")
        page.see(f"""(async () => {{
            const {{ connect }} = await import("{other}/assets/gateway.js");
            window.calls = [];
            connect("{other}", {{ token: () => "{key}" }}).subscribe(
                {{ upstream: "demo", mode: "MERGE", items: "item1", fields: "last_price" }},
                {{ reset: () => calls.push("reset"), update: () => calls.push("update"), state: ({{ state }}) => calls.push(state) }});
        }})()""")
        page.wait("calls.filter((call) => call === 'update').length >= 2")
        request = urllib.request.Request(
            f"{other}/v1/streams/{gateway.streams(other, key)[0]['id']}", method="DELETE",
            headers={"Authorization": f"Bearer {key}"},
        )
        urllib.request.urlopen(request, timeout=10)
        page.wait("calls.includes('reconnecting') && calls.at(-1) === 'update'")
        # The first rows are of a stream that began; the later ones follow without another beginning.
        resets = page.see("calls.slice(calls.indexOf('reconnecting')).filter((call) => call === 'reset').length")
        expect(resets == 0, "the stream was not resumed")


CHECKS = [
    python_follows, shell_follows, keys_are_rotated, certificates_are_rotated, configurations_pass_the_check,
    manifests_fit_together, pods_are_restricted_and_limited, the_engine_of_the_cluster_has_a_valid_configuration, the_unit_is_valid, monitoring_names_metrics_that_exist, nginx_accepts_its_configuration,
    nginx_asks_the_gateway_once_for_all_polls,
    caddy_and_haproxy_accept_theirs, pages_follow_from_another_origin, the_module_sends_the_key_and_resumes,
]


def main(binary):
    with gateway.demo(binary) as (address, _):
        gateway.run(CHECKS, address, binary)
    print(f"examples: {len(CHECKS)} checks")


if __name__ == "__main__":
    gateway.script("examples", main)
