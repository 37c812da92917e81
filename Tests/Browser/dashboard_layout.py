"""Finds its way through the dashboard in headless Chromium: feeds, links, history, charts, recoveries, and what a caller may do.

    python dashboard_layout.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import json
import subprocess
import urllib.parse
import urllib.request

import gateway
from browser import opened
from dashboard_views import ROWS, STATUS, enter_key, run

SELECTED = "document.querySelector('[role=tab][aria-selected=true]').id"
TIMELINE = "[...document.querySelectorAll('.timeline li')].map((line) => line.textContent)"
LEGEND = "[...document.querySelectorAll('.panel:not([hidden]) .legend li')].map((line) => line.textContent)"
SHOWN = "[...document.querySelectorAll('%s')].filter((element) => element.checkVisibility()).map((element) => element.textContent)"


OWN = "[...document.querySelectorAll('[role=tab][id^=tab-own]')]"


def long_link(key="own-1", *fields):
    """A layout of 30 items, in subscriptions of one field each."""
    texts = [f"upstream=demo&mode=MERGE&items=item{number + 1}&fields={field}" for number in range(30) for field in fields or ("bid", "ask")]
    return f"/#{key}?{urllib.parse.urlencode([('open', text) for text in texts])}"


def submit(page, items, fields):
    """Opens a subscription by the form."""
    page.see(f"""(() => {{ const form = document.getElementById('subscribe-form'), names = form.elements;
        names.items.value = {json.dumps(items)}; names.fields.value = {json.dumps(fields)}; form.requestSubmit(); }})()""")
    page.wait(f"{ROWS}.length === 1")


def a_feed_opens_with_a_click(page, address):
    page.wait(STATUS, lambda word: word == "Connected")
    page.click("#tab-feeds")
    page.wait("document.querySelectorAll('.feed').length === 3")
    page.wait("[...document.querySelectorAll('.picture-figure')].map((text) => text.textContent)",
              lambda figures: figures[0] == "1 configured" and figures[1] == "1 connected" and figures[3] == "1")
    page.click(".feed button")
    page.wait(f"{ROWS}.length", lambda count: count == 30)
    page.click("#tab-feeds")
    page.wait("document.querySelectorAll('.used li').length", lambda count: count >= 2)
    page.see("[...document.querySelectorAll('.used button')].find((button) => button.textContent.startsWith('12 items')).click()")
    page.wait(f"{ROWS}.length", lambda count: count == 12)


def the_address_shows_the_same_again(page, address):
    search = page.see("location.search")
    if search.count("open=") != 2:
        raise RuntimeError(f"the address does not have both subscriptions: {search}")
    page.go(page.see("location.href"))
    page.wait(f"{SELECTED} === 'tab-own-2'")
    page.wait(f"{ROWS}.length", lambda count: count == 12)
    page.click("#tab-own-1")
    page.wait(f"{ROWS}.length", lambda count: count == 30)


def back_and_forward_move_among_the_tabs(page, address):
    page.click("#tab-quotes")
    page.click("#tab-portfolio")
    page.see("history.back()")
    page.wait(f"{SELECTED} === 'tab-quotes'")
    page.see("history.back()")
    page.wait(f"{SELECTED} === 'tab-own-1'")
    page.see("history.go(2)")
    page.wait(f"{SELECTED} === 'tab-portfolio'")


def a_chart_has_several_lines_with_the_decimals_of_the_data(page, address):
    page.go(address + "/#quotes")
    page.wait("document.querySelectorAll('.panel:not([hidden]) td.chartable').length >= 12")
    page.wait("document.querySelectorAll('.panel:not([hidden]) tbody tr .spark').length === 12")
    for item in ("item2", "item3"):
        page.see(f"""document.querySelector('.panel:not([hidden]) tr[data-row={item}] td[data-field=last_price]')
            .dispatchEvent(new MouseEvent('click', {{ shiftKey: true, bubbles: true }}))""")
    page.wait(LEGEND, lambda lines: len(lines) == 3)
    page.go(page.see("location.href"))
    page.wait(LEGEND, lambda lines: len(lines) == 3 and "item3" in lines[2])
    label = page.wait("document.querySelector('.panel:not([hidden]) canvas').ariaLabel", lambda text: text.count("latest") == 3)
    if any(len(part.split(".")[1]) != 2 for part in label.replace(",", "").split() if part[0].isdigit() and part.rstrip(".").count(".")
           for part in [part.rstrip(".")]):
        raise RuntimeError(f"other decimals: {label}")
    page.click(".panel:not([hidden]) .legend button")
    page.wait(LEGEND, lambda lines: len(lines) == 2)


def rows_lead_to_the_next(page, address):
    page.click("#tab-gateway")
    page.click("#panel-gateway tr[data-stream] .row-link")
    subscription = page.wait("document.activeElement.id.startsWith('row-s') && document.activeElement.id")
    page.see("[...document.activeElement.querySelectorAll('.row-link')][0].click()")
    page.wait("document.activeElement.id.startsWith('row-c')")
    page.see("history.back()")
    page.wait(f"document.activeElement.id === '{subscription}'")
    page.see("document.activeElement.querySelector('button.link').click()")
    page.wait(f"{ROWS}.length", lambda count: count == 12)


def a_link_to_a_row_keeps_a_long_layout(page, address):
    """Long lists of subscriptions are in the fragment, which the link replaces."""
    page.go(address + long_link())
    page.wait(f"{OWN}.length", lambda count: count == 60)
    page.wait(STATUS, lambda word: word == "Connected")
    page.click("#tab-gateway")
    page.click("#panel-gateway tr[data-stream] .row-link")
    place = page.wait("document.activeElement.id.startsWith('row-s') && location.hash")
    if not place.startswith("#gateway/") or place.count("open=") != 60:
        raise RuntimeError(f"another layout: {place[:200]}")


def a_link_in_an_open_page_shows_its_layout(page, address):
    """A long list of subscriptions is in the fragment: the browser loads no other page. The second link has two that are open."""
    page.go(address + "/#quotes")
    page.see("location.reload()")
    page.wait(f"{ROWS}.length === 12 && {OWN}.length === 0")
    for link, count in ((long_link(), 60), (long_link("own-62", "ask", "min", "max"), 120)):
        page.call("Page.navigate", url=address + link)
        page.wait(f"{OWN}.length", lambda found: found == count)
    page.wait(f"{OWN}.find((tab) => tab.ariaSelected === 'true')?.textContent", lambda title: title == "item21")
    page.wait(f"{ROWS}[0]?.querySelector('td[data-field=min]') !== null")


def an_equal_subscription_is_opened_once(page, address):
    page.go(address + "/#feeds")
    page.see("location.reload()")
    page.wait(f"{OWN}.length === 0 && document.querySelectorAll('.feed').length === 3")
    for _ in range(2):
        submit(page, "item20", "bid")
        page.click("#tab-feeds")
        page.click(".feed button")
        page.wait(f"{ROWS}.length", lambda count: count == 30)
    if page.see(f"{OWN}.map(({{ textContent }}) => textContent).join()") != "item20,Quotes":
        raise RuntimeError("a subscription is open twice")


def the_address_names_the_subscription_also_after_the_end_of_another_one(page, address):
    """The list in the address of an earlier tab has more subscriptions than the page."""
    for item in ("item21", "item22"):
        submit(page, item, "bid")
    page.click(".panel:not([hidden]) .card-head button")
    page.wait(f"{OWN}.length", lambda count: count == 3)
    page.click("#tab-own-1")
    page.click(".panel:not([hidden]) .card-head button")
    page.wait(f"{OWN}.length", lambda count: count == 2)
    page.see("history.go(-3)")
    page.wait("location.hash === '#own-4'")
    page.wait(f"{ROWS}[0]?.cells[0].textContent", lambda name: name == "item22")
    page.see("history.back()")
    page.wait("location.hash === '#own-3'")
    page.wait(f"{ROWS}[0]?.cells[0].textContent", lambda name: name == "item21")


def a_subscription_is_ended(page, address):
    body = {"upstream": "demo", "mode": "MERGE", "items": ["item9"], "fields": ["bid"]}
    request = urllib.request.Request(f"{address}/v1/subscriptions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        identity = json.load(answer)["id"]
    page.click("#tab-gateway")
    page.wait(f"document.querySelector('#row-{identity} .danger')?.checkVisibility()")
    page.wait(f"Number(document.querySelector('#row-{identity}').cells[5].textContent) > 0")
    page.click(f"#row-{identity} .danger")
    page.wait(f"!document.querySelector('#row-{identity}')")


def a_recovery_stays_visible(page, address):
    server = gateway.get(f"{address}/v1/upstreams/demo")["serverAddress"]
    page.go(address + "/")
    page.wait(f"{ROWS}.length", lambda count: count == 12)
    page.wait(STATUS, lambda word: word == "Connected")
    gateway.post(f"{server}/demo/faults", "drop")
    lines = page.wait(TIMELINE, lambda lines: lines and "lost 0 updates" in lines[0])
    if "cut 0 ms" not in lines[0] or "recovered" not in lines[0]:
        raise RuntimeError(f"the recovery is not told: {lines}")
    page.click("#tab-events")
    page.wait("document.querySelector('.recovery').checkVisibility()")
    page.click("#tab-quotes")


def members_are_shown_with_role_and_lag(page, address):
    """As this gateway is alone, with the health of another one."""
    member = {"version": "1.0.0", "configurationDiffers": False}
    health = {"member": "m1", "serving": True, "degraded": False, "lag": 0.25, "members": [
        {"id": "m1", "name": "a:8080", "subscriptions": 3, **member}, {"id": "m2", "name": "b:8080", "subscriptions": 0, **member}]}
    cells = page.see("""import("/assets/members.js").then(({ MembersTable }) => {
        const table = new MembersTable();
        table.show(%s);
        return [...table.element.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
    })""" % json.dumps(health))
    if cells != [["m1 (this one)", "a:8080", "owns subscriptions", "1.0.0", "3", "0.25 s"],
                 ["m2", "b:8080", "reads for its own streams", "1.0.0", "0", "–"]]:
        raise RuntimeError(f"the members: {cells}")
    notes = page.see("""import("/assets/members.js").then(({ CallersTable }) => [%s, undefined].map((cluster) => {
        const table = new CallersTable();
        table.show(cluster);
        return table.element.querySelector(".note").hidden;
    }))""" % json.dumps(health))
    if notes != [False, True]:
        raise RuntimeError("the callers' table does not say whose figures it has")


def a_printed_page_has_all_rows_on_white_paper(page, address):
    """Also with the dark theme: its light text has no background on paper."""
    page.go(f"{address}/?upstream=demo&fields=last_price&items={','.join(f'item{number}' for number in range(1, 31))}")
    page.wait(f"{ROWS}.length", lambda count: count == 30)
    page.see("void (document.documentElement.dataset.theme = 'dark')")
    page.call("Emulation.setEmulatedMedia", media="print")
    color, hidden = page.see("""(({ scrollHeight, clientHeight }) => [getComputedStyle(document.body).color, scrollHeight - clientHeight])(
        document.querySelector('.panel:not([hidden]) .scroll'))""")
    page.call("Emulation.setEmulatedMedia", media="")
    if color != "rgb(20, 32, 44)" or hidden > 1:
        raise RuntimeError(f"the text is {color}, {hidden} pixels of the table are hidden")


def the_head_covers_nothing_that_has_the_focus(page, address):
    """Not in a narrow window either, where the head has two lines."""
    page.go("about:blank")
    page.go(address + "/#quotes")
    page.wait(f"{ROWS}.length", lambda count: count == 12)
    for width in (1280, 768, 700, 390):
        page.resize(width, 500)
        seen = page.see("""(async () => {
            const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
            const control = document.querySelector("#subscribe summary"), place = () => control.getBoundingClientRect();
            await frame();
            await frame();
            control.blur();
            // Behind the last line of the head.
            scrollBy({ top: place().bottom - document.querySelector(".top").offsetHeight, behavior: "instant" });
            control.focus();
            for (let last = -1; last !== scrollY; await new Promise((resolve) => setTimeout(resolve, 200))) last = scrollY;
            return document.elementFromPoint(place().left + 10, place().top + place().height / 2).localName;
        })()""")
        if seen != "summary":
            raise RuntimeError(f"{seen} covers the focus at {width} pixels")
    page.resize(1280, 900)


def a_failure_has_its_reason(page, address):
    page.go(f"{address}/?upstream=far&items=item1&fields=last_price")
    page.wait("document.querySelector('#status .sentence').textContent", lambda text: "Nothing accepts connections" in text)
    page.click("#tab-gateway")
    page.wait(SHOWN % ".upstream .problem", lambda texts: any("upstreams.far.serverAddress" in text for text in texts))


CHECKS = [
    a_feed_opens_with_a_click, the_address_shows_the_same_again, back_and_forward_move_among_the_tabs,
    a_chart_has_several_lines_with_the_decimals_of_the_data, rows_lead_to_the_next, a_subscription_is_ended, a_recovery_stays_visible,
    members_are_shown_with_role_and_lag, a_printed_page_has_all_rows_on_white_paper, a_link_to_a_row_keeps_a_long_layout,
    a_link_in_an_open_page_shows_its_layout, an_equal_subscription_is_opened_once,
    the_address_names_the_subscription_also_after_the_end_of_another_one, the_head_covers_nothing_that_has_the_focus,
]


def a_caller_is_offered_what_it_may_do(binary):
    keys = {}
    settings = []
    for name, operations in (("reader", "read"), ("admin", "read,subscribe,manage,send")):
        words = subprocess.run([binary, "key"], capture_output=True, text=True, check=True).stdout.split()
        keys[name] = words[1]
        settings += ["--set", f"auth.keys.{name}.hash={words[3]}", "--set", f"auth.keys.{name}.operations={operations}"]
    # A check by itself: the reader sees nothing to end, to change or to send.
    offers = SHOWN % "#subscribe summary, .faults button, #panel-gateway .actions button, .chat button, .used button"
    with gateway.demo(binary, "--auth", "keys", *settings) as (address, _):
        for name, expected in (("reader", False), ("admin", True)):
            with opened(address + "/#gateway") as page:
                page.wait("document.getElementById('key-dialog').open")
                enter_key(page, keys[name])
                page.wait("document.querySelectorAll('.upstream').length === 1")
                page.wait(SHOWN % "#panel-gateway h2", lambda titles: "Callers" in titles)
                page.click("#tab-quotes")
                page.click("#tab-gateway")
                if expected:
                    page.wait(offers, lambda found: len(found) > 2)
                    page.wait(SHOWN % "#panel-gateway th[scope=row]", lambda names: "key:admin (this page)" in names)
                else:
                    page.wait("document.querySelector('#panel-gateway').checkVisibility()")
                    if found := page.see(offers):
                        raise RuntimeError(f"offered to a reader: {found}")


def main(binary):
    with gateway.demo(binary) as (address, _), opened(address + "/") as page:
        page.resize(1280, 900)
        run(page, address, CHECKS)
    with gateway.demo(binary, "--upstream", "far=http://127.0.0.1:1") as (address, _), opened(address + "/") as page:
        run(page, address, [a_failure_has_its_reason])
    gateway.run([a_caller_is_offered_what_it_may_do], binary)
    print(f"dashboard: {len(CHECKS) + 2} checks of its layout")


if __name__ == "__main__":
    gateway.script("dashboard", main)
