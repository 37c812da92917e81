"""Compiles JavaScript files in headless Chromium without running them: compile_scripts.py FILE…"""

import pathlib
import sys

from browser import opened

failed = False
with opened("about:blank") as page:
    page.call("Runtime.enable")
    for name in sys.argv[1:]:
        answer = page.call("Runtime.compileScript", expression=pathlib.Path(name).read_text(encoding="utf-8"),
                           sourceURL=name, persistScript=False)
        if "exceptionDetails" in answer:
            print(name, answer["exceptionDetails"])
            failed = True
sys.exit(failed)
