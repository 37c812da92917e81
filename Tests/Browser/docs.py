"""Executes every example of the API page: curl in a shell, JavaScript in headless Chromium, Python in an interpreter;
Swift by the compiler.

    python docs.py .build/debug/lightstreamer-gateway

Ends 0 once all of them work and the page does what it should; prints the first that does not, and ends 1.
"""

import gzip
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.request

import gateway
from browser import opened
from dashboard_views import run

SAMPLES = """[...document.querySelectorAll('.operation')].map((section) => ({
    id: section.id, samples: Object.fromEntries([...section.querySelectorAll('.sample')].map((sample) =>
        [sample.dataset.language, sample.querySelector('code').textContent])) }))"""
SETUP = "document.querySelector('[data-language=setup] code').textContent"

# The precondition of an operation, as a shell command.
BEFORE = {"subscribe": 'curl -s -X POST "$BASE/v1/subscriptions/$SUBSCRIPTION/unsubscribe"'}
# Operations whose responses do not end.
STREAMS = {"stream", "openStream", "streamClient", "streamSubscription"}
# Operations that respond after a change, or after 25 seconds.
POLLS = {"awaitModelContext"}


def shell(setup, before, command, address):
    script = f"set -euo pipefail\nBASE={address}\n{setup}\n{before} >/dev/null\n{command}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    return done


def curl_examples_work(page, address):
    variables = Variables(page.see(SETUP), address)
    for operation in page.see(SAMPLES):
        name, command = operation["id"], operation["samples"]["curl"]
        if name in STREAMS | POLLS:
            # curl ends with 28 when its time is over.
            command = command.replace("curl ", "curl -s --max-time 2 ", 1) + " || test $? = 28"
        else:
            command = command.replace("curl ", "curl -s --fail-with-body ", 1)
        setup = "\n".join(f"{key.upper()}={shlex.quote(value)}" for key, value in variables.of(operation).items())
        done = shell(setup, BEFORE.get(name, ":"), command, address)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {command}: {done.stdout}{done.stderr}")
        if name in STREAMS and "event: stream" not in done.stdout:
            raise RuntimeError(f"{name}: no event: {done.stdout}")


class Variables:
    """The ids that the first lines of the page set, as the names that the other languages use. Examples that only read have the same
    resources, each other one has its own."""

    names = ("CLIENT", "SUBSCRIPTION", "PORTFOLIO", "KEY", "STREAM", "SESSION")

    def __init__(self, setup, address):
        self.setup = setup
        self.address = address
        self.shared = self.new()

    def new(self):
        done = shell(self.setup, ":", "printf '%s\\n' " + " ".join(f'"${name}"' for name in self.names), self.address)
        if done.returncode != 0:
            raise RuntimeError(f"the variables: {done.stderr}")
        return dict(zip([name.lower() for name in self.names], done.stdout.split("\n")))

    def of(self, operation):
        command = operation["samples"]["curl"]
        is_change = "-X " in command or operation["id"] in STREAMS
        return self.new() if is_change and any(f"${name}" in command for name in self.names) else self.shared


def javascript_examples_work(page, address):
    variables = Variables(page.see(SETUP), address)
    for operation in page.see(SAMPLES):
        name, text = operation["id"], operation["samples"]["JavaScript"]
        if name in BEFORE or name in POLLS:
            continue
        values = variables.of(operation)
        declarations = "".join(f"const {name} = {json.dumps(value)};" for name, value in values.items())
        if name in STREAMS:
            text += """\nawait new Promise((resolve, reject) => { source.addEventListener("stream", resolve);
                source.onerror = () => reject(new Error("no stream")); }); source.close(); return "200";"""
        else:
            text += "\nreturn String(response.status);"
        status = page.see(f"(async () => {{ {declarations}\n{text} }})()")
        if not status.startswith("2"):
            raise RuntimeError(f"{name}: status {status}: {text}")


def python_examples_work(page, address):
    variables = Variables(page.see(SETUP), address)
    programs = []
    for operation in page.see(SAMPLES):
        name, text = operation["id"], operation["samples"]["Python"]
        compile(text, name, "exec")
        if name in BEFORE or name in POLLS:
            continue
        values = variables.of(operation)
        if name in STREAMS:
            # The first event is enough; a stream that is refused raises an error.
            text += "\n            break\nresponse = source.response"
        body = "\n".join(f"    {line}" for line in text.splitlines())
        declarations = ", ".join(f"{name}={value!r}" for name, value in values.items())
        programs.append(f"def run({', '.join(values)}):\n{body}\n    assert response.is_success, {name!r} + response.text\n"
                        f"run({declarations})\n")
    done = subprocess.run([sys.executable, "-c", "".join(programs)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])


# What the examples use of async-http-client, whose dependencies would take longer to compile than all other checks of the page.
SWIFT_CLIENT = """
public import NIOCore
public import NIOHTTP1

public struct HTTPClientRequest {
    public struct Body {
        public static func bytes(_ bytes: some Sequence<UInt8> & Sendable) -> Body { fatalError() }
    }
    public var method: HTTPMethod
    public var headers: HTTPHeaders
    public var body: Body?
    public init(url: String) { fatalError() }
}

public struct HTTPClientResponse: Sendable {
    public struct Body: AsyncSequence, Sendable {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> ByteBuffer? { fatalError() }
        }
        public func makeAsyncIterator() -> AsyncIterator { fatalError() }
        public func collect(upTo limit: Int) async throws -> ByteBuffer { fatalError() }
    }
    public var status: HTTPResponseStatus
    public var body: Body
}

public final class HTTPClient: Sendable {
    public static let shared = HTTPClient()
    public func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse { fatalError() }
}
"""


def swift_examples_compile(page, address):
    """The compiler checks all of them as functions of one file, beside the modules that the tests were built with."""
    build = pathlib.Path(sys.argv[1]).resolve().parent
    names = ", ".join(f"{name}: String" for name in ("client", "subscription", "portfolio", "key", "stream", "session"))
    imports, functions = set(), []
    for operation in page.see(SAMPLES):
        lines = operation["samples"]["Swift"].splitlines()
        imports.update(line for line in lines if line.startswith("import "))
        body = "\n".join(line for line in lines if not line.startswith("import "))
        functions.append(f"func {operation['id']}({names}) async throws {{\n{body}\n}}\n")
    maps = [*build.glob("*.build/module.modulemap"), *build.parents[1].glob("checkouts/*/Sources/*/include/module.modulemap")]
    with tempfile.TemporaryDirectory() as folder:
        client, file = pathlib.Path(folder, "client.swift"), pathlib.Path(folder, "samples.swift")
        client.write_text(SWIFT_CLIENT)
        file.write_text("\n".join([*sorted(imports), *functions]))
        for what in (["-emit-module", "-module-name", "AsyncHTTPClient", client], ["-typecheck", "-warnings-as-errors", file]):
            done = subprocess.run(
                ["swiftc", "-swift-version", "6", "-parse-as-library", "-I", folder, "-I", build / "Modules",
                 *(word for each in maps for word in ("-Xcc", f"-fmodule-map-file={each}")), *what],
                cwd=folder, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                raise RuntimeError(done.stderr[-2000:])


def problems_lead_to_their_line(page, address):
    for path in ("/v1/clients/none", "/v1/nothing", "/v1/stream?upstream=none&mode=MERGE&items=a&fields=b"):
        try:
            urllib.request.urlopen(address + path, timeout=10)
            raise RuntimeError(f"{path} is there")
        except urllib.error.HTTPError as answer:
            anchor = json.load(answer)["type"].split("#")[1]
        if not page.see(f"document.getElementById({json.dumps(anchor)})?.cells.length === 5"):
            raise RuntimeError(f"no line for {anchor}")
    for anchor in ("session-1", "session-0", "subscription-21", "message-38"):
        if not page.see(f"document.getElementById('{anchor}')?.cells[3].textContent.length > 10"):
            raise RuntimeError(f"no cure for {anchor}")
    if page.see("[...document.querySelectorAll('.codes tr td:last-child')].filter((cell) => !cell.textContent).length"):
        raise RuntimeError("a code has no cure")


def links_lead_somewhere(page, address):
    lost = page.see("""[...document.querySelectorAll('a[href^="#"]')].map((link) => link.hash.slice(1))
        .filter((id) => !document.getElementById(id))""")
    if lost:
        raise RuntimeError(f"links without target: {lost}")


def search_finds_operations(page, address):
    page.see("document.getElementById('search').focus()")
    page.call("Input.insertText", text="cookies jar")
    page.wait("document.getElementById('found').textContent", lambda text: re.match(r"[1-9] operations? found", text))
    if page.see("document.getElementById('deleteCookies').hidden") or not page.see("document.getElementById('metrics').hidden"):
        raise RuntimeError("the search shows the wrong operations")
    headings = page.see("[...document.querySelectorAll('#sidebar h3')].filter((h3) => h3.checkVisibility()).map((h3) => h3.textContent)")
    if "Clients" not in headings or "Streams" in headings:
        raise RuntimeError(f"headings without entries: {headings}")
    page.see("(() => { const input = document.getElementById('search'); input.value = ''; input.dispatchEvent(new Event('input')); })()")


def a_link_to_what_a_search_has_hidden_ends_the_search(page, address):
    page.see("document.getElementById('search').focus()")
    page.call("Input.insertText", text="cookies jar")
    page.wait("document.getElementById('unknown-client').hidden")
    page.see("location.hash = '#unknown-client'")
    page.wait("document.getElementById('unknown-client').checkVisibility() && document.getElementById('search').value === ''")
    page.wait("document.getElementById('unknown-client').getBoundingClientRect().top < innerHeight")


def tabs_change_the_language(page, address):
    page.see("[...document.querySelectorAll('#listUpstreams .language')].find((tab) => tab.textContent === 'Python').click()")
    page.wait("document.querySelector('#listUpstreams .sample:not([hidden])').dataset.language === 'Python'")
    page.see("[...document.querySelectorAll('#listUpstreams .language')].find((tab) => tab.textContent === 'curl').click()")


def run_shows_the_stream_beside_the_text(page, address):
    for section in ("stream", "start"):
        page.see(f"document.querySelector('#{section} .run').click()")
        page.wait(f"document.querySelector('#{section} .live').textContent", lambda text: text.count("event: update") >= 3)
        if not page.see(f"""(() => {{
                const root = document.querySelector("#{section} .runnable");
                const text = [...root.querySelectorAll("pre:not(.live)")].find((pre) => pre.checkVisibility()).getBoundingClientRect();
                const live = root.querySelector(".live").getBoundingClientRect();
                return live.left >= text.right && live.top < text.bottom; }})()"""):
            raise RuntimeError(f"the stream of {section} is not beside the text")
    if len(gateway.streams(address)) != 1:
        raise RuntimeError("the first stream goes on")
    page.see("document.querySelector('#start .run').click()")
    page.wait("document.querySelector('#start .run').textContent === 'Run'")
    page.see("document.querySelector('#listUpstreams .run').click()")
    page.wait("document.querySelector('#listUpstreams .live').textContent.includes('serverAddress')")
    page.wait("document.querySelector('#listUpstreams .run').textContent === 'Run'")
    page.click("#metrics .run")
    page.wait("document.querySelector('#metrics .live').textContent.length > 20_000")
    if page.see("(({ textContent, scrollTop }) => [textContent.slice(0, 3), scrollTop])(document.querySelector('#metrics .live'))") != ["200", 0]:
        raise RuntimeError("a long response is not shown from its beginning")
    if page.see("document.querySelector('#deleteStream .run')"):
        raise RuntimeError("a change can be run")


def controls_have_the_names_that_they_show(page, address):
    """Voice control finds a button by its text; a screen reader tells whether the menu is open."""
    names = "(({ textContent, ariaLabel }) => [textContent, ariaLabel])(document.querySelector('#stream .run'))"
    for word in ("Run", "Stop", "Run"):
        text, name = page.see(names)
        if text != word or not name.startswith(f"{word} GET /v1/stream"):
            raise RuntimeError(f"the button {text} is named {name}")
        page.click("#stream .run")
    page.click("#stream .run")
    page.resize(390, 844)
    page.click("#menu")
    if page.see("document.getElementById('menu').ariaExpanded") != "true":
        raise RuntimeError("the menu is open, and said to be closed")
    page.click("#menu")
    page.wait("!document.getElementById('sidebar').checkVisibility()")
    page.resize(1280, 900)


def a_button_that_was_pressed_twice_has_its_name_again(page, address):
    name = page.see("""(async () => {
        const { copyText } = await import("/assets/dom.js"), { setTimeout } = window, ends = [], button = document.createElement("button");
        button.textContent = "Copy";
        window.setTimeout = (end) => ends.push(end);
        for (const text of ["one", "two"]) await copyText(text, button);
        window.setTimeout = setTimeout;
        for (const end of ends) end();
        return button.textContent;
    })()""")
    if name != "Copy":
        raise RuntimeError(f"the button stays {name}")


def a_single_key_is_no_command(page, address):
    """Speech input presses keys of words; some browsers search with them."""
    page.see("document.activeElement.blur()")
    page.press("/", 191, "/")
    if page.see("document.activeElement.id"):
        raise RuntimeError("a key has moved the focus")


def what_is_opened_is_in_view(page, address):
    """The contents where the button was pressed, and the part that a link leads to below the head, on a small screen too."""
    page.resize(320, 640)
    page.see("scrollTo({ top: 20_000, behavior: 'instant' })")
    page.click("#menu")
    page.wait("document.getElementById('search').getBoundingClientRect().top", lambda top: 0 < top < 640)
    page.click("#sidebar a[href='#openStream']")
    distance = "document.getElementById('openStream').getBoundingClientRect().top - document.querySelector('.top').offsetHeight"
    page.wait(distance, lambda found: 0 <= found < 100)
    # The Tab key leaves the contents, which cover the screen.
    page.click("#menu")
    page.see("[...document.querySelectorAll('#sidebar a')].at(-1).focus()")
    page.press("Tab", 9)
    page.wait("""(({ activeElement: one }) => {
        const { left, top, width, height } = one.getBoundingClientRect();
        return one.closest("main") && document.elementFromPoint(left + width / 2, top + height / 2) === one;
    })(document)""")
    # Here the head has two lines.
    page.go("about:blank")
    page.go(address + "/docs#subscription-1001")
    covered = page.see("""new Promise((resolve) => {
        let last = -1;
        const look = () => {
            if (scrollY === last) return resolve(document.querySelector(".top").offsetHeight - document.getElementById("subscription-1001").getBoundingClientRect().top);
            last = scrollY;
            setTimeout(look, 200);
        };
        look();
    })""")
    if covered > 0:
        raise RuntimeError(f"the head covers {covered} pixels of the part that the address refers to")
    page.resize(1280, 900)


def a_fragment_without_valid_escapes_is_no_error(page, address):
    page.see("""new Promise((resolve) => {
        addEventListener("hashchange", () => resolve(), { once: true });
        location.hash = "#100%";
    })""")


def a_phone_needs_no_sideways_scrolling(page, address):
    page.resize(390, 844)
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        if page.see("document.documentElement.scrollWidth") > 390:
            raise RuntimeError("the page is wider than the screen")
        page.picture(f"docs-phone-{scheme}")
    page.click("#menu")
    page.wait("document.getElementById('sidebar').checkVisibility()")


def the_page_is_compressed_where_accepted(page, address):
    plain = urllib.request.urlopen(address + "/docs", timeout=10).read()
    request = urllib.request.Request(address + "/docs", headers={"Accept-Encoding": "br, gzip"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        packed, tag = answer.read(), answer.headers["ETag"]
        if answer.headers["Content-Encoding"] != "gzip" or gzip.decompress(packed) != plain or len(packed) * 3 > len(plain):
            raise RuntimeError("not the same page in gzip")
    request.add_header("If-None-Match", tag)
    try:
        urllib.request.urlopen(request, timeout=10)
        raise RuntimeError("the tag is not recognized")
    except urllib.error.HTTPError as answer:
        if answer.code != 304:
            raise


def main(binary):
    with gateway.demo(binary) as (address, _), opened(address + "/docs") as page:
        page.resize(1280, 900)
        page.wait("document.querySelectorAll('.samples .tabs').length > 20")
        run(page, address, [
            links_lead_somewhere, problems_lead_to_their_line, tabs_change_the_language, run_shows_the_stream_beside_the_text,
            controls_have_the_names_that_they_show, a_button_that_was_pressed_twice_has_its_name_again,
            a_single_key_is_no_command, what_is_opened_is_in_view, search_finds_operations, a_link_to_what_a_search_has_hidden_ends_the_search,
            a_fragment_without_valid_escapes_is_no_error,
            curl_examples_work, javascript_examples_work, python_examples_work, swift_examples_compile, the_page_is_compressed_where_accepted,
            a_phone_needs_no_sideways_scrolling,
        ])
    print("docs: every example works")


if __name__ == "__main__":
    gateway.script("docs", main)
