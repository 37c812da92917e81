"""Compiles JavaScript files in headless Chromium without running them: compile_scripts.py FILE…"""

import json
import pathlib
import re
import sys

from browser import opened

# A module that is imported does not run, because its own imports cannot be resolved: that is found after its syntax.
IMPORT = """import(URL.createObjectURL(new Blob([%s + "\\nimport 'unknown';"], { type: "text/javascript" })))
    .then(() => "", (error) => error instanceof SyntaxError ? String(error) : "")"""


def fault(page, name, text):
    """What the browser says about a file; nothing if it is correct."""
    if re.search(r"^(import|export) ", text, re.MULTILINE):
        return page.see(IMPORT % json.dumps(text))
    answer = page.call("Runtime.compileScript", expression=text, sourceURL=name, persistScript=False)
    return answer.get("exceptionDetails")


failed = False
with opened("about:blank") as page:
    for name in sys.argv[1:]:
        if found := fault(page, name, pathlib.Path(name).read_text(encoding="utf-8")):
            print(name, found)
            failed = True
sys.exit(failed)
