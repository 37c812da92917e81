"""The bill of materials of the gateway: a CycloneDX 1.6 document of its Swift packages and Debian libraries.

    SOURCE_DATE_EPOCH=… sbom.py VERSION BINARY > sbom.cdx.json

The libraries are those that the binary loads: package, archive and image contain or need no others.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The text of a licence that tells it, in the order in which they are tried.
LICENSES = [("Apache-2.0", "Apache License"), ("MIT", "Permission is hereby granted, free of charge"), ("ISC", "ISC")]


def architecture():
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def checkouts(binary):
    """The sources of the Swift packages in a binary: in the scratch folder of the build that has made it, or else in .build."""
    for folder in [*pathlib.Path(binary).resolve().parents, ROOT / ".build"]:
        if (folder / "checkouts").is_dir():
            return folder / "checkouts"
    sys.exit("no checkouts of the Swift packages, which contain the licences")


def license_of(folder):
    for file in sorted(folder.glob("LICENSE*")):
        content = file.read_text(errors="replace")
        for name, words in LICENSES:
            if words in content:
                return [{"license": {"id": name}}]
    return []


def swift_packages(binary):
    sources = checkouts(binary)
    for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
        version = pin["state"].get("version")
        place = re.sub(r"^https://|\.git$", "", pin["location"])
        purl = f"pkg:swift/{place}@{version}"
        component = {"type": "library", "bom-ref": purl, "name": pin["identity"], "version": version, "purl": purl}
        if found := license_of(sources / place.split("/")[-1]):
            component["licenses"] = found
        yield component


def libraries(binary):
    """The files that a program loads, with the path by which the loader knows each of them."""
    lines = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout.splitlines()
    return [match[0] for line in lines if (match := re.search(r"/\S+", line))]


def owners(files):
    """The Debian packages of files, without those of files that are of no package."""
    # Debian's /lib is a link to /usr/lib, but the packages of its libraries still name the former.
    names = {file: (file, real := os.path.realpath(file), re.sub(r"^/usr/lib", "/lib", real)) for file in files}
    # One search: it reads the lists of all packages.
    done = subprocess.run(["dpkg-query", "-S", *{name for of in names.values() for name in of}], capture_output=True, text=True)
    found = {line.rsplit(": ", 1)[-1]: line.split(":")[0] for line in done.stdout.splitlines()}
    return {package for of in names.values() if (package := next((found[name] for name in of if name in found), None))}


def debian_packages(binary):
    names = sorted(owners(libraries(binary)))
    form = "${Package}\t${Version}\t${Architecture}\n"
    shown = subprocess.run(["dpkg-query", "-W", "-f", form, *names], capture_output=True, text=True, check=True).stdout
    for name, version, arch in sorted({tuple(line.split("\t")) for line in shown.splitlines()}):
        purl = f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={arch}&distro=debian-12"
        yield {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def document(version, binary, epoch):
    """The document; the same input gives the same bytes."""
    components = [*swift_packages(binary), *debian_packages(binary)]
    purl = f"pkg:generic/lightstreamer-gateway@{version}"
    subject = {
        "type": "application", "bom-ref": purl, "name": "lightstreamer-gateway", "version": version, "purl": purl,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    content = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "component": subject,
            "properties": [{"name": "architecture", "value": architecture()}],
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [component["bom-ref"] for component in components]}],
    }
    digest = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return json.dumps({"serialNumber": f"urn:uuid:{digest}", **content}, indent=1) + "\n"


if __name__ == "__main__":
    print(document(sys.argv[1], sys.argv[2], int(os.environ["SOURCE_DATE_EPOCH"])), end="")
