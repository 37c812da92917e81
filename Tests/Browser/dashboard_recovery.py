"""Watches the dashboard in headless Chromium while the upstream or the gateway fails, and while the page is hidden.

    python dashboard_recovery.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import signal

import gateway
from browser import opened
from dashboard_views import PROBLEM, PROGRESS, ROWS, STATUS, run

AGE = "document.querySelector('.panel:not([hidden]) .age-text').textContent"
IS_DIM = "document.querySelector('.panel:not([hidden])').classList.contains('stale')"
WORDS = "window.words"
OBSERVE = """window.words = []; new MutationObserver(() => window.words.push(
    document.querySelector('#status').dataset.word)).observe(document.querySelector('#status'), { attributes: true })"""


def strike(page, label):
    page.click("#tab-gateway")
    page.wait(f"[...document.querySelectorAll('.faults:not([hidden]) button')].some((button) => button.textContent.startsWith('{label}'))")
    page.see(OBSERVE)
    page.see(f"[...document.querySelectorAll('.faults:not([hidden]) button')].find((button) => button.textContent.startsWith('{label}')).click()")
    page.click("#tab-quotes")


def is_connected(page, address):
    page.wait(STATUS, lambda word: word == "Connected")
    page.wait(f"{ROWS}.length", lambda count: count == 12)


def a_removed_subscription_is_reported(page, address):
    server = gateway.get(f"{address}/v1/upstreams/demo")["serverAddress"]
    gateway.post(f"{server}/demo/faults", "inject line=UNSUB,1")
    text = page.wait(PROBLEM)
    if "The upstream removed the subscription" not in text or "61" not in text:
        raise RuntimeError(f"the removal is not explained: {text}")
    page.wait(STATUS, lambda word: word == "Refused")
    page.wait(IS_DIM)
    page.go(address + "/")
    is_connected(page, address)


def an_upstream_that_cannot_be_reached_is_named(page, address):
    page.go(f"{address}/?upstream=far&items=item1&fields=last_price")
    page.wait("document.querySelector('#status .sentence').textContent", lambda text: "cannot be reached" in text)
    page.wait(PROGRESS, lambda steps: steps == ["done", "failed", "waiting", "waiting"])
    page.go(address + "/")
    is_connected(page, address)


def a_restarted_upstream_is_reported_and_forgotten(page, address):
    strike(page, "Restart")
    page.wait(WORDS, lambda words: "reconnecting" in words or "connecting" in words)
    page.wait(STATUS, lambda word: word == "Connected")
    page.wait(PROGRESS, lambda steps: steps == ["done"] * 4)


def a_silent_upstream_makes_values_stale(page, address):
    strike(page, "Stall")
    page.wait(STATUS, lambda word: word == "Stale")
    page.wait(IS_DIM)
    page.wait(AGE, lambda text: text.startswith("values are old"))
    page.picture("stale")
    page.wait(STATUS, lambda word: word == "Connected")
    page.wait(f"!{IS_DIM}")


def leaving_pages_hold_no_connection(page, address):
    for number in range(8):
        page.go(f"{address}/assets/gateway-hub.js?visit={number}")
        page.go(address + "/")
        is_connected(page, address)
    open_streams = [stream for stream in gateway.streams(address) if stream["open"]]
    if len(open_streams) != 1:
        raise RuntimeError(f"{len(open_streams)} streams are open")


def a_page_that_returns_goes_on(page, address):
    page.see("window.isSamePage = true")
    page.go(address + "/docs")
    page.again(lambda: not any(stream["open"] for stream in gateway.streams(address)), "no open stream", bool)
    page.see("history.back()")
    page.wait("location.pathname === '/' && document.readyState === 'complete'")
    is_connected(page, address)
    page.again(lambda: sum(stream["open"] for stream in gateway.streams(address)) == 1, "one open stream", bool)


def a_script_that_does_not_arrive_is_named(page, address):
    page.call("Network.enable")
    page.call("Network.setBlockedURLs", urls=["*/assets/table.js"])
    page.go(address + "/")
    page.wait(STATUS, lambda word: word == "Not loaded")
    page.call("Network.setBlockedURLs", urls=[])
    page.click("#reconnect")
    is_connected(page, address)


def a_gateway_that_is_gone_is_named(page, address, process):
    process.send_signal(signal.SIGTERM)
    process.wait()
    page.wait(STATUS, lambda word: word == "Gone")
    page.wait(IS_DIM)
    page.wait(AGE, lambda text: text.startswith("values are old"))
    page.wait("document.querySelector('#status .sentence').textContent", lambda text: "Next attempt in" in text)
    page.picture("gone")
    if page.see(f"{ROWS}.length") != 12:
        raise RuntimeError("the values were not kept")


def a_gateway_that_returns_is_used(page, address, binary):
    # A tab that is selected meanwhile waits for the gateway as well.
    page.click("#tab-portfolio")
    page.wait("document.querySelector('#panel-portfolio .problem').hidden")
    with gateway.demo(binary, port=address.rsplit(":", 1)[1]):
        page.wait(STATUS, lambda word: word == "Connected")
        page.wait(f"{ROWS}.length", lambda count: count >= 3)
        page.click("#tab-quotes")
        page.wait(f"!{IS_DIM}")
        page.wait(PROGRESS, lambda steps: steps == ["done"] * 4)


def main(binary):
    far = ["--upstream", "far=http://127.0.0.1:1"]
    with gateway.demo(binary, *far) as (address, process), opened(address + "/") as page:
        page.resize(1280, 900)
        run(page, address, [
            is_connected, a_removed_subscription_is_reported, an_upstream_that_cannot_be_reached_is_named,
            a_restarted_upstream_is_reported_and_forgotten, a_silent_upstream_makes_values_stale,
            leaving_pages_hold_no_connection, a_page_that_returns_goes_on, a_script_that_does_not_arrive_is_named,
        ])
        a_gateway_that_is_gone_is_named(page, address, process)
        a_gateway_that_returns_is_used(page, address, binary)
    print("dashboard: recovers")


if __name__ == "__main__":
    gateway.script("dashboard", main)
