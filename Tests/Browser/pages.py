"""A server of pages and files for tests: the origin of an application beside the gateway."""

import contextlib
import functools
import http.server
import pathlib
import threading

RESOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Gateway/Gateway/Resources"
MODULE = RESOURCES / "Module"


class Pages(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, an empty page for any other path, and no response at all under `/silent`."""

    def do_GET(self):
        if self.path.startswith("/silent"):
            return self.keep_silent()
        if (pathlib.Path(self.directory) / self.path.split("?")[0].lstrip("/")).is_file():
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>An application</title>")

    def do_POST(self):
        self.keep_silent()

    def keep_silent(self):
        """Until the client gives up."""
        self.connection.settimeout(60)
        with contextlib.suppress(OSError):
            while self.connection.recv(1 << 16):
                pass
        self.close_connection = True

    def log_message(self, *arguments):
        pass


class Assets(Pages):
    """The scripts of the dashboard and the module by their names, as a gateway has them below `/assets`."""

    def do_GET(self):
        name = pathlib.Path(self.path).name
        if file := next((file for file in RESOURCES.rglob(name) if file.is_file() and "source" not in file.parts), None):
            self.path = f"/{file.relative_to(RESOURCES)}"
        super().do_GET()


class Server(http.server.ThreadingHTTPServer):
    """A server whose clients may leave at any time."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        pass


@contextlib.contextmanager
def other_origin(folder=MODULE, handler=Pages):
    """Serves pages with the files of a folder; gives the origin."""
    with Server(("127.0.0.1", 0), functools.partial(handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
