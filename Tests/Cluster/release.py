"""A release build of the random tests of the cluster, in a copy of the package with the switches of all mutants."""

import glob
import os
import subprocess
import sys

from rules import MUTANTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, ".build", "mutants")
COPY = os.path.join(FOLDER, "package")
TESTS = ["Cluster/ReplicationTests", "Cluster/SimulationTests", "Cluster/CSimulation", "Gateway/EventHubTests", "TestSupport"]

# Added to each changed file.
SWITCH = """
internal import func Glibc.getenv
private let activeMutant = getenv("CLUSTER_MUTANT").map { String(cString: $0) }
private func isMutant(_ name: String) -> Bool { activeMutant == name }
"""

# Reduces the manifest to the tests and the targets that they need.
MANIFEST = """
do {
    var kept: Set<String> = []
    var waiting = ["ReplicationTests", "EventHubTests", "SimulationTests"]
    while let name = waiting.popLast() {
        guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): waiting.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { _ in true }
}
"""


def changed_sources():
    """The contents of the changed files by path; the environment chooses one of the mutants."""
    sources = {}
    for name, _, *changes in MUTANTS:
        for path, text, replacement in changes:
            if path not in sources:
                with open(os.path.join(ROOT, path)) as file:
                    sources[path] = file.read() + SWITCH
            # Another mutant may have changed the same text.
            if sources[path].count(text) != 1:
                sys.exit(f"{name}: the text is {sources[path].count(text)} times in {path}: {text}")
            sources[path] = sources[path].replace(text, replacement)
    whole = "".join(sources.values())
    for name, *_ in MUTANTS:
        if f'isMutant("{name}")' not in whole:
            sys.exit(f"{name} changes nothing")
    return sources


def update_copy():
    """Writes the files that differ, so that only these are compiled again."""
    sources = changed_sources()
    with open(os.path.join(ROOT, "Package.swift")) as manifest:
        sources["Package.swift"] = manifest.read() + MANIFEST
    for folder in ["Sources", *(f"Tests/{name}" for name in TESTS)]:
        for path in glob.glob(os.path.join(ROOT, folder, "**"), recursive=True):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    sources.setdefault(os.path.relpath(path, ROOT), file.read())
    for path in glob.glob(os.path.join(COPY, "**"), recursive=True):
        if os.path.isfile(path) and os.path.relpath(path, COPY) not in sources:
            os.remove(path)
    for name, content in sources.items():
        path, content = os.path.join(COPY, name), content.encode() if isinstance(content, str) else content
        if os.path.exists(path):
            with open(path, "rb") as file:
                if file.read() == content:
                    continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def build():
    """Builds the tests if something has changed; returns their program. `CLUSTER_MUTANT` chooses the rule that it leaves out."""
    update_copy()
    options = ["-c", "release", "--package-path", COPY, "--scratch-path", os.path.join(FOLDER, "build")]
    built = subprocess.run(
        ["swift", "build", "--build-tests", *options, "-Xswiftc", "-enable-testing"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )
    if built.returncode != 0:
        sys.exit(built.stdout)
    return glob.glob(os.path.join(FOLDER, "build", "release", "*.xctest"))[0]
