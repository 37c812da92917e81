"""Uses the dashboard in headless Chromium as a person would: each tab, the form, keyboard, phone.

    python dashboard_views.py .build/debug/lightstreamer-gateway

Ends 0 once every check below holds; prints the first that does not, and ends 1.
"""

import gateway
from browser import opened

STATUS = "document.querySelector('#status .word').textContent"
ROWS = "[...document.querySelectorAll('.panel:not([hidden]) .values tbody tr')]"
CELLS = f"{ROWS}.map((row) => [...row.cells].map((cell) => cell.innerText))"
PROGRESS = "[...document.querySelectorAll('.panel:not([hidden]) .progress li')].map((step) => step.dataset.state)"
PROBLEM = "document.querySelector('.panel:not([hidden]) .problem').innerText"
EVENTS = "[...document.querySelectorAll('.events .sentence')].map((line) => line.textContent)"


def quotes_change_and_show_their_direction(page, address):
    page.wait(STATUS, lambda word: word == "Connected")
    page.wait(f"{ROWS}.length", lambda count: count == 12)
    page.wait(PROGRESS, lambda steps: steps == ["done"] * 4)
    first = page.see(CELLS)
    page.wait(CELLS, lambda cells: cells != first)
    page.wait("[...document.querySelectorAll('.arrow')].map((arrow) => arrow.textContent).join('')",
              lambda arrows: "▲" in arrows and "▼" in arrows)
    page.wait("document.querySelectorAll('.values .spark-line[points]').length", lambda count: count > 10)
    page.wait("getComputedStyle(document.querySelector('.values td.number')).textAlign === 'right'")


def tables_are_sorted_by_their_heads(page, address):
    page.click(".values th[data-column=last_price] button")
    page.click(".values th[data-column=last_price] button")
    ordered = page.see("[...document.querySelectorAll('.panel:not([hidden]) td[data-field=last_price]')]"
                       ".map((cell) => Number(cell.querySelector('.value').textContent))")
    if ordered != sorted(ordered, reverse=True):
        raise RuntimeError(f"not in descending order: {ordered}")
    if page.see("document.querySelector('th[data-column=last_price]').ariaSort") != "descending":
        raise RuntimeError("the order is not told to screen readers")


def a_cell_has_a_chart_that_zooms(page, address):
    page.click(".panel:not([hidden]) tr[data-row=item2] td[data-field=bid]")
    label = page.wait("document.querySelector('.panel:not([hidden]) canvas').ariaLabel", lambda text: "item2" in text)
    if "bid" not in label:
        raise RuntimeError(f"not the chart of the cell: {label}")
    page.see("document.querySelector('.panel:not([hidden]) canvas').focus()")
    page.press("+", 187, "+")
    page.wait("document.querySelectorAll('.panel:not([hidden]) .chart-card .chip[data-span][aria-pressed=true]').length === 0")
    page.press("Home", 36)
    page.wait("document.querySelector('.panel:not([hidden]) .chart-card .chip:last-child').ariaPressed === 'true'")


def pause_holds_the_values(page, address):
    page.click("#pause")
    held = page.see(CELLS)
    page.wait("document.getElementById('pause').textContent", lambda text: "held" in text and "(0 held" not in text)
    if page.see(CELLS) != held:
        raise RuntimeError("values changed while paused")
    page.click("#pause")
    page.wait(CELLS, lambda cells: cells != held)


def the_portfolio_joins_the_same_stream(page, address):
    before = gateway.streams(address)
    page.click("#tab-portfolio")
    page.wait(f"{ROWS}.length", lambda count: count >= 3)
    page.wait("[...document.querySelectorAll('.panel:not([hidden]) td[data-field=stock_name]')].every((cell) => cell.innerText.length > 1)")
    after = gateway.streams(address)
    if [stream["id"] for stream in before] != [stream["id"] for stream in after] or len(after[0]["sources"]) != 2:
        raise RuntimeError(f"not the one stream with one more source: {after}")
    # A sold position fades and goes; the demo sells one within a few seconds.
    page.see("""window.sold = []; new MutationObserver((changes) => changes.forEach((change) =>
        change.removedNodes.forEach((row) => window.sold.push(row.className))))
        .observe(document.querySelector('.panel:not([hidden]) .values tbody'), { childList: true })""")
    page.wait("window.sold.includes('leaving')")


def a_chat_message_is_sent_and_comes_back(page, address):
    page.click("#tab-chat")
    page.wait("document.querySelector('.chat button').disabled === false")
    page.see("document.querySelector('.chat input').value = 'a line from the browser'")
    page.click(".chat button")
    page.wait(f"{CELLS}.flat().includes('a line from the browser')")
    page.wait("document.querySelector('.chat .outcome').textContent.startsWith('✓')")


def raw_events_are_listed(page, address):
    page.click("#tab-raw")
    page.wait(f"{ROWS}.length", lambda count: count >= 3)


def a_hidden_table_keeps_nothing_of_its_deleted_keys(page, address):
    left = page.see("""(async () => {
        const { Feed } = await import("/assets/feed.js");
        const feed = new Feed("t", "t", { mode: "COMMAND", items: ["a"], fields: ["key", "command", "q"] });
        for (let key = 0; key < 100; key += 1) for (const command of ["ADD", "DELETE"]) {
            feed.apply("update", { item: "a", key: `${key}`, command, fields: { key: `${key}`, command, q: "1" } });
        }
        return [feed.rows.size, feed.dirty.size];
    })()""")
    if left != [0, 0]:
        raise RuntimeError(f"rows and undrawn changes are left: {left}")


def a_loss_of_the_stream_leaves_fields_unknown(page, address):
    """Not one of the server: the gateway has the next event with its own last row."""
    rows = page.see("""(async () => {
        const { Feed } = await import("/assets/feed.js");
        const feed = new Feed("t", "t", { mode: "DISTINCT", items: ["a"], fields: ["x", "y"] });
        const update = (fields) => feed.apply("update", { item: "a", itemPos: 1, fields });
        const lose = (by) => feed.apply("lost-updates", { item: "a", itemPos: 1, count: 1, by });
        update({ x: "1", y: "2" });
        lose("server");
        update({ x: "3" });
        lose("gateway");
        update({ x: "4" });
        return [...feed.rows.values()].map(({ values }) => values);
    })()""")
    if rows != [{"x": "1", "y": "2"}, {"x": "3", "y": "2"}, {"x": "4"}]:
        raise RuntimeError(f"rows: {rows}")


def own_subscriptions_come_and_go_by_the_form(page, address):
    page.see("document.getElementById('subscribe').open = true")
    page.see("""(() => { const form = document.getElementById('subscribe-form').elements;
        form.items.value = 'item20, item21'; form.fields.value = 'stock_name, ask'; })()""")
    page.click("#subscribe-form button[type=submit]")
    page.wait(f"{ROWS}.length", lambda count: count == 2)
    if "items=item20,item21" not in page.see("location.search"):
        raise RuntimeError("the address does not describe the subscription")
    sources = len(gateway.streams(address)[0]["sources"])
    page.click(".panel:not([hidden]) .card-head button")
    page.wait("!document.querySelector('[id^=tab-own]')")
    page.again(lambda: len(gateway.streams(address)[0]["sources"]) == sources - 1, "one source less", bool)


def wrong_names_are_explained(page, address):
    wrong = {
        "items=nope&fields=last_price": ("21", "item group does not exist"),
        "items=item1&fields=nope": ("23", "field schema does not exist"),
        "items=item1&fields=last_price&dataAdapter=NOPE": ("17", "data adapter does not exist"),
        "items=item1&fields=last_price&mode=DISTINCT&dataAdapter=QUOTE_ADAPTER": ("24", "does not support this mode"),
    }
    for query, (code, meaning) in wrong.items():
        page.go(f"{address}/?upstream=demo&{query}")
        text = page.wait(PROBLEM, lambda text: code in text)
        if meaning not in text or "subscribed" not in page.see(
                "document.querySelector('.panel:not([hidden]) .progress [data-state=failed]').dataset.step"):
            raise RuntimeError(f"code {code} is not explained: {text}")
        page.wait(STATUS, lambda word: word == "Refused")
    page.go(f"{address}/?upstream=nope&items=item1&fields=last_price")
    page.wait(PROBLEM, lambda text: "unknown-upstream" in text)
    page.go(f"{address}/?upstream=demo&items=12&fields=last_price")
    text = page.wait(PROBLEM, lambda text: "invalid-value" in text)
    if text.count("An item name is expected") != 1 or "items: An" not in text or "add/" in text:
        raise RuntimeError(f"a refused value is not named once: {text}")


def the_gateway_is_shown_at_a_glance(page, address):
    page.go(address + "/#gateway")
    page.click("#tab-quotes")
    page.wait(f"{ROWS}.length", lambda count: count == 12)
    page.click("#tab-gateway")
    page.wait("document.querySelector('[data-figure=updateRate] .figure').textContent", lambda text: text not in ("–", "0.0"))
    page.wait("document.querySelector('[data-figure=p99] .figure').textContent !== '–'")
    page.wait("[...document.querySelectorAll('.bar')].map((bar) => bar.getAttribute('aria-valuenow'))",
              lambda bars: len(bars) == 3 and bars[0] == "1")
    page.click("#panel-gateway .actions button")
    page.wait("document.querySelector('.options input[name=retryDelay]')?.value === '2'")
    page.see("""(() => { const input = document.querySelector('.options input[name=retryDelay]');
        input.value = '3'; input.dispatchEvent(new Event('change')); })()""")
    page.wait("document.querySelector('.options-form .outcome').textContent === '✓ retryDelay was changed.'")
    client = gateway.get(address + "/v1/clients")["clients"][0]["id"]
    if gateway.get(f"{address}/v1/clients/{client}/options")["retryDelay"] != 3:
        raise RuntimeError("the option was not changed")


def a_stream_is_ended_and_opened_again(page, address):
    page.wait("""(() => { const row = [...document.querySelectorAll('#panel-gateway tr[data-stream]')]
        .find((row) => row.innerText.includes('(this page)')); row?.querySelector('button').click(); return !!row; })()""")
    page.click("#tab-quotes")
    # A stream that was ended is opened again by itself.
    page.wait(STATUS, lambda word: word == "Reconnecting")
    page.wait(STATUS, lambda word: word == "Connected")


def events_are_sentences_with_json_on_demand(page, address):
    page.click("#tab-events")
    page.wait(EVENTS, lambda lines: "A new stream began. It carries 1 source." in lines)
    # A newer event may come first in the list meanwhile.
    page.see("(globalThis.chosenEvent = document.querySelector('.events details')).open = true")
    page.wait("globalThis.chosenEvent.querySelector('pre').textContent.startsWith('{')")
    page.click("#panel-events input[name=data]")
    page.wait(EVENTS, lambda lines: any("Quotes: item" in line for line in lines))
    page.click("#panel-events input[name=data]")
    page.wait("document.querySelectorAll('.events li[data-kind=data]:not([hidden])').length === 0")


def subscriptions_are_copied_as_programs(page, address):
    page.click("#tab-quotes")
    page.see("document.querySelector('.panel:not([hidden]) .copy-as').open = true")
    for language, part in {"curl": "curl -N '", "JavaScript": "connect(", "Python": "httpx_sse",
                           "watch": "lightstreamer-gateway watch --gateway"}.items():
        page.see(f"[...document.querySelectorAll('.panel:not([hidden]) .copy-as .chip')].find((chip) => chip.textContent === '{language}').click()")
        text = page.see("document.querySelector('.panel:not([hidden]) .copy-as code').textContent")
        if part not in text or "item1,item2" not in text:
            raise RuntimeError(f"{language}: {text}")


def tabs_work_by_keyboard(page, address):
    page.see("document.getElementById('tab-quotes').focus()")
    page.press("ArrowRight", 39)
    page.wait("document.activeElement.id === 'tab-portfolio' && !document.getElementById('panel-portfolio').hidden")
    page.press("Home", 36)
    page.wait("document.activeElement.id === 'tab-quotes'")
    if page.see("[...document.querySelectorAll('[role=tab]')].filter((tab) => tab.tabIndex === 0).length") != 1:
        raise RuntimeError("more than one tab is in the tab order")
    # The link at the top of the page leads past the tabs, and shows no other one.
    page.click("#tab-portfolio")
    page.see("document.querySelector('.skip').focus()")
    page.press("Enter", 13, "\r")
    page.wait("document.getElementById('panels').contains(document.activeElement)")
    if page.see("location.hash") != "#portfolio" or page.see("document.getElementById('panel-portfolio').hidden"):
        raise RuntimeError("the link to the values shows another tab")
    page.click("#tab-quotes")


def readers_of_all_kinds_find_names(page, address):
    unnamed = page.see("""[...document.querySelectorAll('button, a, input, select, [role=img], [role=tabpanel]')]
        .filter((element) => element.checkVisibility())
        .filter((element) => !(element.innerText?.trim() || element.ariaLabel || element.closest('label')
            || element.getAttribute('aria-labelledby'))).map((element) => element.outerHTML)""")
    if unnamed:
        raise RuntimeError(f"without a name: {unnamed}")
    page.wait("document.querySelector('.values caption').textContent.length > 10")
    page.wait("document.querySelector('.values tbody th[scope=row]') !== null")
    page.wait("document.getElementById('announcement').textContent.startsWith('Connected')")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.wait("matchMedia('(prefers-reduced-motion: reduce)').matches && document.getAnimations().length === 0")
    page.call("Emulation.setEmulatedMedia", features=[])


def a_phone_needs_no_sideways_scrolling(page, address):
    page.resize(390, 844)
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for tab in ("quotes", "portfolio", "chat", "raw", "feeds", "gateway", "events"):
            page.click(f"#tab-{tab}")
            if page.see("document.documentElement.scrollWidth") > 390:
                raise RuntimeError(f"{tab} is wider than the screen")
            page.picture(f"phone-{tab}-{scheme}")
    colors = page.see("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    if colors[0] == colors[1]:
        raise RuntimeError("text and background have one color")


def enter_key(page, text):
    """Types a key or token into the dialog."""
    page.see("document.getElementById('key-input').focus()")
    page.call("Input.insertText", text=text)
    page.press("Enter", 13, "\r")


CHECKS = [
    quotes_change_and_show_their_direction, tables_are_sorted_by_their_heads, a_cell_has_a_chart_that_zooms,
    pause_holds_the_values, the_portfolio_joins_the_same_stream, a_chat_message_is_sent_and_comes_back,
    raw_events_are_listed, a_hidden_table_keeps_nothing_of_its_deleted_keys, a_loss_of_the_stream_leaves_fields_unknown,
    own_subscriptions_come_and_go_by_the_form, wrong_names_are_explained,
    the_gateway_is_shown_at_a_glance, a_stream_is_ended_and_opened_again, events_are_sentences_with_json_on_demand,
    subscriptions_are_copied_as_programs, tabs_work_by_keyboard, readers_of_all_kinds_find_names,
    a_phone_needs_no_sideways_scrolling,
]


def run(page, address, checks):
    for check in checks:
        try:
            check(page, address)
        except Exception as problem:
            page.picture(f"failed-{check.__name__}")
            raise RuntimeError(f"{check.__name__}: {problem}") from problem
        page.picture(check.__name__)
    if page.complaints:
        raise RuntimeError(f"the browser complains: {page.complaints}")


def main(binary):
    with gateway.demo(binary) as (address, _), opened(address + "/") as page:
        page.resize(1280, 900)
        run(page, address, CHECKS)
    print(f"dashboard: {len(CHECKS)} checks")


if __name__ == "__main__":
    gateway.script("dashboard", main)
