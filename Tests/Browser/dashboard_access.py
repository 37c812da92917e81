"""Opens the dashboard of a gateway with authentication in headless Chromium.

    python dashboard_access.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import subprocess

import gateway
from browser import opened
from dashboard_views import ROWS, STATUS, enter_key, run


def a_key_is_asked_for(page, address):
    page.wait("document.getElementById('key-dialog').open")
    page.wait("document.getElementById('key-reason').textContent.includes('requires a key')")
    page.wait(STATUS, lambda word: word == "Refused")


def a_wrong_key_is_refused(page, address):
    enter_key(page, "lsg_wrong")
    page.wait("document.getElementById('key-dialog').open && document.getElementById('key-reason').textContent"
              ".includes('does not accept')")


def the_key_is_sent_as_a_header(key):
    def check(page, address):
        enter_key(page, key)
        page.wait(STATUS, lambda word: word == "Connected")
        page.wait(f"{ROWS}.length", lambda count: count == 12)
        identity = gateway.streams(address, key)[0]["id"]
        page.see(f"fetch('/v1/streams/{identity}', {{ method: 'DELETE', headers: {{ Authorization: 'Bearer {key}' }} }})")
        page.wait(STATUS, lambda word: word == "Reconnecting")
        page.wait(STATUS, lambda word: word == "Connected")
        urls = page.see("performance.getEntriesByType('resource').map(({ name }) => name)")
        if any(key in url or "ticket" in url for url in urls):
            raise RuntimeError(f"the key is part of a URL: {urls}")

    check.__name__ = "the_key_is_sent_as_a_header"
    return check


def the_key_is_in_memory_only(key):
    def check(page, address):
        stores = page.see("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href,"
                          " document.documentElement.outerHTML])")
        if key in stores:
            raise RuntimeError("the key is stored")
        page.go(address + "/?again")
        page.wait("document.getElementById('key-dialog').open")

    check.__name__ = "the_key_is_in_memory_only"
    return check


def an_address_that_changes_before_the_key_is_there_shows_its_layout(key):
    def check(page, address):
        page.call("Page.navigate", url=page.see("location.href") + "#own-1?upstream=demo&items=item1&fields=bid")
        page.wait("location.hash.startsWith('#own-1')")
        enter_key(page, key)
        page.wait(f"{ROWS}.length", lambda count: count == 1)
        page.wait(STATUS, lambda word: word == "Connected")

    check.__name__ = "an_address_that_changes_before_the_key_is_there_shows_its_layout"
    return check


def main(binary):
    lines = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
    key, digest = lines[1], lines[3]
    with gateway.demo(binary, "--auth", "keys", "--set", f"auth.keys.page.hash={digest}",
                      "--set", "auth.keys.page.operations=read,subscribe,manage,send") as (address, _):
        with opened(address + "/") as page:
            run(page, address, [
                a_key_is_asked_for, a_wrong_key_is_refused, the_key_is_sent_as_a_header(key),
                the_key_is_in_memory_only(key), an_address_that_changes_before_the_key_is_there_shows_its_layout(key),
            ])
    print("dashboard: keys")


if __name__ == "__main__":
    gateway.script("dashboard", main)
