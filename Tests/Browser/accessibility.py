"""Measures the dashboard and the API page in headless Chromium by the rules of WCAG 2.2 AA that a program can decide.

    python accessibility.py .build/debug/lightstreamer-gateway

Ends 0 once every rule holds in light and dark, on a screen and on phones; prints what violates one, and ends 1.
"""

import itertools

import gateway
from browser import opened

TABS = ("quotes", "portfolio", "chat", "raw", "feeds", "gateway", "events")

# Colors are read back from a canvas, since computed ones may have any notation.
RULES = """(() => {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
    .getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, index) => value * a + below[index] * (1 - a));
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const background = (element) => {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.unshift(getComputedStyle(at).backgroundColor);
    return chain.reduce((below, color) => over(rgba(color), below), [255, 255, 255]);
  };
  const name = (element) => element.tagName.toLowerCase() + (element.id ? `#${element.id}` : "")
    + [...element.classList].map((word) => `.${word}`).join("") + ` "${element.textContent.trim().slice(0, 30)}"`;
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true })
    && !element.closest(".visually-hidden, .skip, :disabled, svg");
  const scope = document.querySelector("dialog[open]") ?? document.body;
  const all = [...scope.querySelectorAll("*")].filter(isSeen);
  const faults = [];

  for (const element of all) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!texts.length) continue;
    const style = getComputedStyle(element);
    let [r, g, b, alpha] = rgba(style.color);
    for (let at = element; at; at = at.parentElement) alpha *= Number(getComputedStyle(at).opacity);
    const below = background(element);
    const ratio = contrast(over([r, g, b, alpha], below), below);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)} of ${name(element)}`);
  }

  const controls = all.filter((element) => element.matches("a[href], button, input, select, summary, [tabindex='0']"));
  for (const element of controls) {
    const isNamed = element.innerText?.trim() || element.ariaLabel || element.closest("label")
      || document.getElementById(element.getAttribute("aria-labelledby"));
    if (!isNamed) faults.push(`no name: ${name(element)}`);
    const { width, height } = (element.closest("label") ?? element).getBoundingClientRect();
    const isInText = getComputedStyle(element).display === "inline";
    if (!isInText && (width < 24 || height < 24)) faults.push(`smaller than 24 pixels: ${name(element)}`);
  }
  for (const element of all) {
    const isScrolled = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
      && /auto|scroll/.test(getComputedStyle(element).overflowX);
    const isReached = element.tabIndex >= 0 || element.querySelector("a[href], button, input, select, [tabindex]");
    if (isScrolled && !isReached) faults.push(`scrolls, but not by keyboard: ${name(element)}`);
    const isCut = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 && getComputedStyle(element).overflowX === "hidden";
    if (isCut) faults.push(`cut off: ${name(element)}`);
    if (element.tagName === "LI" && !["UL", "OL"].includes(element.parentElement.tagName)) {
      faults.push(`outside a list: ${name(element)}`);
    }
    if (element.tagName === "TH" && !element.textContent.trim()) faults.push(`an empty head of a column: ${name(element)}`);
    if (element.parentElement === document.body && !element.matches("header, main, nav, dialog, .layout, section, noscript")) {
      faults.push(`outside the landmarks: ${name(element)}`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) faults.push(`two elements have the id ${id}`);
  let level = 0;
  for (const heading of all.filter((element) => /^H[1-6]$/.test(element.tagName))) {
    const own = Number(heading.tagName[1]);
    if (level && own > level + 1) faults.push(`a level is left out before ${name(heading)}`);
    level = own;
  }
  return [...new Set(faults)];
})()"""

FOCUS = """(() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  window.visited ??= [];
  const isNew = element !== document.body && !window.visited.includes(element);
  const last = window.visited.at(-1);
  const isInOrder = !last || !isNew || !!(last.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (isNew) window.visited.push(element);
  const { width } = element.getBoundingClientRect();
  return [isNew, isInOrder, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && width > 0,
    element.outerHTML.slice(0, 120)];
})()"""


def media(page, scheme):
    page.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
    ])


def expect_rules(page, place):
    faults = page.see(RULES)
    if faults:
        raise RuntimeError(f"{place}: " + "; ".join(faults[:12]))


def each_look(page):
    for scheme in ("light", "dark"):
        media(page, scheme)
        for width, height in ((1280, 900), (390, 844), (320, 640)):
            page.resize(width, height)
            yield f"{scheme}, {width} pixels"


def dashboard_follows_the_rules(page, address):
    page.go(address + "/")
    page.wait("document.querySelectorAll('.values tbody tr').length >= 12")
    for look in each_look(page):
        for tab in TABS:
            page.click(f"#tab-{tab}")
            page.wait("!!document.querySelector('.panel:not([hidden]) :is(tbody tr, .events li, .feed)')")
            page.see("""document.querySelectorAll('.panel:not([hidden]) details, #subscribe').forEach(
                (details) => { details.open = true; });
                document.querySelector('#panel-gateway:not([hidden]) .actions button[aria-expanded=false]')?.click()""")
            expect_rules(page, f"{tab}, {look}")
        page.click("#key")
        expect_rules(page, f"the dialog, {look}")
        page.click("#key-cancel")


def refusals_follow_the_rules(page, address):
    page.go(address + "/?upstream=demo&items=nope&fields=nope")
    page.wait("!!document.querySelector('.panel:not([hidden]) .problem:not([hidden])')")
    for look in each_look(page):
        expect_rules(page, f"a refusal, {look}")


def the_documentation_follows_the_rules(page, address):
    page.go(address + "/docs")
    page.wait("!!document.querySelector('.samples .tabs')")
    for look in each_look(page):
        expect_rules(page, f"/docs, {look}")


def every_control_is_reached_by_tab(page, address):
    page.resize(1280, 900)
    page.go(address + "/")
    page.wait("document.querySelectorAll('.values tbody tr').length >= 12")
    visited = 0
    while True:
        page.press("Tab", 9)
        is_new, is_in_order, is_visible, text = page.see(FOCUS)
        if not is_new:
            break
        if not is_in_order:
            raise RuntimeError(f"not in the order of the page: {text}")
        if not is_visible:
            raise RuntimeError(f"the focus is not visible: {text}")
        visited += 1
    missing = page.see("""[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
        .filter((element) => element.checkVisibility({ visibilityProperty: true }) && element.tabIndex >= 0
            && !element.disabled && !window.visited.includes(element)).map((element) => element.outerHTML.slice(0, 120))""")
    if missing or visited < 20:
        raise RuntimeError(f"not reached by Tab: {missing}")


def chosen_controls_differ_in_forced_colors(page, address):
    """Where the user sets the colors, no background and no transparent border tells anything."""
    page.go(address + "/")
    page.wait("document.querySelectorAll('.values tbody tr').length >= 12")
    page.click(".panel:not([hidden]) .copy-as summary")
    page.wait("!!document.querySelector('.copy-as [aria-pressed=true]')")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    alike = page.see("""[["[role=tab]", "aria-selected"], [".copy-as button", "aria-pressed"]].filter(([element, state]) => {
        const [chosen, other] = [true, false].map((value) => {
            const { backgroundColor, borderBottomColor } = getComputedStyle(document.querySelector(`${element}[${state}=${value}]`));
            return [backgroundColor, borderBottomColor].join();
        });
        return chosen === other;
    })""")
    if alike:
        raise RuntimeError(f"what is chosen looks like the others: {alike}")


def texts_have_the_size_that_the_browser_is_set_to(page, address):
    """Half as large again and twice as large, on a wide screen and on a small one, where nothing is cut off or beside the page."""
    texts = "[...new Set([document.body, document.querySelector('.note'), document.querySelector('button')].map((one) => parseFloat(getComputedStyle(one).fontSize)))]"
    for path in ("/docs", "/"):
        page.resize(1280, 900)
        page.go(address + path)
        page.wait("document.querySelectorAll('.values tbody tr, .samples .tabs').length >= 12")
        page.see("document.querySelector('#subscribe')?.setAttribute('open', '')")
        before = page.see(texts)
        try:
            for width, factor in itertools.product((1280, 390, 320), (1.5, 2)):
                page.resize(width, 844)
                # Alone: the browser changes texts without a change of the window.
                page.call("Page.setFontSizes", fontSizes={"standard": int(16 * factor), "fixed": int(13 * factor)})
                page.wait(texts, lambda now: now == [factor * size for size in before])
                # The page hears of the size before the second frame.
                page.see("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))")
                for tab in TABS if path == "/" else (None,):
                    if tab:
                        page.click(f"#tab-{tab}")
                    if page.see("document.documentElement.scrollWidth") > width:
                        raise RuntimeError(f"{path} {tab} is wider than {width} pixels with texts {factor} times as large")
                    expect_rules(page, f"{path} {tab} with texts {factor} times as large, {width} pixels")
        finally:
            page.call("Page.setFontSizes", fontSizes={"standard": 16, "fixed": 13})


def old_values_follow_the_rules(page, address, process):
    process.terminate()
    process.wait()
    page.wait("!!document.querySelector('.panel:not([hidden])').classList.contains('stale')")
    for look in each_look(page):
        # The cells that changed last flash, for longer on a loaded machine.
        page.wait("!document.getAnimations().some(({ effect }) => effect.target.closest('.values'))")
        expect_rules(page, f"old values, {look}")


def main(binary):
    with gateway.demo(binary) as (address, process), opened("about:blank") as page:
        # Before anything is drawn: a row that fades in has less contrast for a moment.
        media(page, "light")
        for check in (dashboard_follows_the_rules, refusals_follow_the_rules, the_documentation_follows_the_rules,
                      texts_have_the_size_that_the_browser_is_set_to, every_control_is_reached_by_tab,
                      chosen_controls_differ_in_forced_colors):
            check(page, address)
        old_values_follow_the_rules(page, address, process)
    print("accessibility: every rule holds")


if __name__ == "__main__":
    gateway.script("accessibility", main)
