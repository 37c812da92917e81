"""Opens the dashboard of a gateway with authentication in headless Chromium.

    python dashboard_access.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import subprocess

import gateway
from browser import opened
from dashboard_views import ROWS, STATUS, run


def a_key_is_asked_for(page, address):
    page.wait("document.getElementById('key-dialog').open")
    page.wait("document.getElementById('key-reason').textContent.includes('requires a key')")
    page.wait(STATUS, lambda word: word == "Refused")


def enter(page, text):
    page.see("document.getElementById('key-input').focus()")
    page.call("Input.insertText", text=text)
    page.press("Enter", 13, "\r")


def a_wrong_key_is_refused(page, address):
    enter(page, "lsg_wrong")
    page.wait("document.getElementById('key-dialog').open && document.getElementById('key-reason').textContent"
              ".includes('does not accept')")


def the_stream_is_opened_with_tickets(key):
    def check(page, address):
        page.see("""window.opened = []; const Original = EventSource;
            window.EventSource = class extends Original { constructor(url) { super(url); window.opened.push(url); } }""")
        enter(page, key)
        page.wait(STATUS, lambda word: word == "Connected")
        page.wait(f"{ROWS}.length", lambda count: count == 12)
        identity = gateway.streams(address, key)[0]["id"]
        page.see(f"fetch('/v1/streams/{identity}', {{ method: 'DELETE', headers: {{ Authorization: 'Bearer {key}' }} }})")
        page.wait(STATUS, lambda word: word == "Refused")
        page.click("#reconnect")
        page.wait(STATUS, lambda word: word == "Connected")
        urls = page.see("window.opened")
        tickets = {url.split("ticket=")[1] for url in urls}
        if len(tickets) != len(urls) or any(key in url for url in urls):
            raise RuntimeError(f"not a new ticket for each connection: {urls}")

    check.__name__ = "the_stream_is_opened_with_tickets"
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


def main(binary):
    lines = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
    key, digest = lines[1], lines[3]
    with gateway.demo(binary, "--auth", "keys", "--set", f"auth.keys.page.hash={digest}",
                      "--set", "auth.keys.page.operations=read,subscribe,manage,send") as (address, _):
        with opened(address + "/") as page:
            run(page, address, [
                a_key_is_asked_for, a_wrong_key_is_refused, the_stream_is_opened_with_tickets(key),
                the_key_is_in_memory_only(key),
            ])
    print("dashboard: keys and tickets")


if __name__ == "__main__":
    gateway.script("dashboard", main)
