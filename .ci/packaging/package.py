"""Writes the artefacts of a binary into a folder. Called by .ci/package.

    SOURCE_DATE_EPOCH=… package.py BINARY FOLDER [deb|tarball|chart|sbom]…
"""

import gzip
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

import manual
import sbom

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
NAME = "lightstreamer-gateway"
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
LEVEL = int(os.environ.get("PACKAGE_LEVEL", 9))
COMPLETIONS = {
    "bash": f"share/bash-completion/completions/{NAME}",
    "zsh": f"share/zsh/vendor-completions/_{NAME}",
    "fish": f"share/fish/vendor_completions.d/{NAME}.fish",
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def compressed(data):
    return gzip.compress(data.encode() if isinstance(data, str) else data, LEVEL, mtime=0)


def service():
    """The unit of Examples without its upstream's password: the packaged configuration has no upstream yet."""
    text = (ROOT / "Examples/systemd/lightstreamer-gateway.service").read_text()
    changed = re.sub(r"# The secret reaches[^\n]*\nLoadCredential=[^\n]*\nEnvironment=[^\n]*\n\n?", "", text)
    changed = changed.replace("/usr/local/bin/", "/usr/bin/").replace("Documentation=https://gateway.example.com/docs", f"Documentation=man:{NAME}(1)")
    if "LoadCredential" in changed or "/usr/local" in changed or "example.com" in changed:
        sys.exit("Examples/systemd/lightstreamer-gateway.service has changed; so must .ci/packaging/package.py")
    return changed


class Files:
    """The files of an artefact below the prefix /usr, by their paths."""

    def __init__(self, binary, version):
        self.version = version
        with tempfile.TemporaryDirectory() as folder:
            stripped = pathlib.Path(folder, NAME)
            subprocess.run(["strip", "--strip-unneeded", "-o", stripped, binary], check=True)
            self.binary = stripped.read_bytes()
        self.bill = sbom.document(version, binary, EPOCH)
        self.common = {f"bin/{NAME}": self.binary, f"share/man/man1/{NAME}.1.gz": compressed(manual.page(binary, version, EPOCH))}
        for shell, path in COMPLETIONS.items():
            self.common[path] = output(binary, "--generate-completion-script", shell).encode()

    def tree(self, folder, files):
        """Writes files below a folder, with one time and the permissions that they need."""
        for path, data in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else data.encode())
            isProgram = "bin/" in path or path.split("/")[-1] in ("postinst", "prerm", "postrm")
            file.chmod(0o755 if isProgram else 0o644)
        for path in [*pathlib.Path(folder).rglob("*"), pathlib.Path(folder)]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (EPOCH, EPOCH))


def deb(files, binary, folder):
    architecture = sbom.architecture()
    document = f"usr/share/doc/{NAME}"
    content = {f"usr/{path}": data for path, data in files.common.items()} | {
        f"lib/systemd/system/{NAME}.service": service(),
        f"etc/{NAME}/gateway.yaml": (HERE / "gateway.yaml").read_text(),
        f"{document}/copyright": (HERE / "copyright").read_text(),
        f"{document}/changelog.gz": compressed((ROOT / "CHANGELOG.md").read_bytes()),
        f"{document}/README.md": (ROOT / "README.md").read_text(),
        f"{document}/sbom.cdx.json": files.bill,
    }
    sums = {path: hashlib.md5(data if isinstance(data, bytes) else data.encode()).hexdigest() for path, data in content.items()}
    size = sum(len(data) for data in content.values()) // 1024 + 1
    fields = (HERE / "control").read_text().format(
        version=files.version, architecture=architecture, size=size, depends=dependencies(binary))
    scripts = {f"DEBIAN/{name}": (HERE / name).read_text() for name in ("postinst", "prerm", "postrm")}
    control = {
        "DEBIAN/control": fields, "DEBIAN/conffiles": f"/etc/{NAME}/gateway.yaml\n",
        "DEBIAN/md5sums": "".join(f"{digest}  {path}\n" for path, digest in sorted(sums.items()) if not path.startswith("etc/")),
    }
    target = folder / f"{NAME}_{files.version}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as root:
        files.tree(root, content | control | scripts)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz" if LEVEL == 9 else "-Zgzip", f"-z{min(LEVEL, 6)}", "--build", root, target], check=True, stdout=subprocess.DEVNULL)
    return target


def dependencies(binary):
    """The Debian packages of the libraries that the binary loads, with the versions that it needs."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "debian").mkdir()
        pathlib.Path(folder, "debian/control").write_text(f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n")
        done = subprocess.run(
            ["dpkg-shlibdeps", "--ignore-missing-info", "-l/opt/swift/usr/lib/swift/linux", "-O", pathlib.Path(binary).resolve()],
            cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return re.search(r"^shlibs:Depends=(.*)$", done.stdout, re.M)[1]


def tarball(files, binary, folder):
    top = f"{NAME}-{files.version}-linux-{sbom.architecture()}"
    content = files.common | {
        f"lib/systemd/system/{NAME}.service": service(), f"etc/{NAME}/gateway.yaml": (HERE / "gateway.yaml").read_text(),
        "sbom.cdx.json": files.bill, **{name: (ROOT / name).read_bytes() for name in ("LICENSE", "README.md", "CHANGELOG.md")},
    }
    target = folder / f"{top}.tar.gz"
    archive(target, {f"{top}/{path}": data for path, data in content.items()})
    return target


def chart(files, binary, folder):
    """As `helm package` does, but with one time for all files."""
    source = ROOT / "docker/helm" / NAME
    target = folder / f"{NAME}-{files.version}.tgz"
    archive(target, {f"{NAME}/{file.relative_to(source)}": file.read_bytes() for file in source.rglob("*") if file.is_file()})
    return target


def archive(target, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, data in sorted(content.items()):
            data = data if isinstance(data, bytes) else data.encode()
            member = tarfile.TarInfo(path)
            member.size, member.mtime, member.mode = len(data), EPOCH, 0o755 if "/bin/" in path else 0o644
            member.uname = member.gname = "root"
            tar.addfile(member, io.BytesIO(data))
    target.write_bytes(compressed(buffer.getvalue()))


def bill(files, binary, folder):
    target = folder / f"{NAME}-{files.version}-{sbom.architecture()}.cdx.json"
    target.write_text(files.bill)
    return target


WRITERS = {"deb": deb, "tarball": tarball, "chart": chart, "sbom": bill}


def main(binary, folder, *names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = Files(binary, output(ROOT / ".ci/set-version", "--print").strip())
    targets = [WRITERS[name](files, binary, folder) for name in names or WRITERS]
    sums = "".join(f"{hashlib.sha256(target.read_bytes()).hexdigest()}  {target.name}\n" for target in targets)
    (folder / "SHA256SUMS").write_text(sums)
    for target in targets:
        print(f"{target} {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
