"""The manual page of a program of swift-argument-parser, from its own description of its commands.

The plugin of that package does the same, but needs a release build of its own.
"""

import json
import subprocess
import time


def text(words):
    """Words as troff takes them: no line begins with a control character."""
    escaped = (words or "").replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(("\\&" + line) if line[:1] in (".", "'") else line for line in escaped.split("\n"))


def flag(name):
    dashes = {"short": "-", "long": "--", "longWithSingleDash": "-"}[name["kind"]]
    return text(dashes + name["name"])


def term(argument):
    """An argument with its names and value, as the heading of its description."""
    value = f"\\fI{text(argument.get('valueName'))}\\fR"
    if argument["kind"] == "positional":
        return value + (" ..." if argument["isRepeating"] else "")
    names = ", ".join(f"\\fB{flag(name)}\\fR" for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} {value}"


def described(arguments):
    for argument in arguments:
        if argument["shouldDisplay"]:
            yield f".TP\n{term(argument)}\n{text(argument.get('abstract', '')) or chr(92) + '&'}"


def discussion(command):
    """Paragraphs; one of several lines keeps its form."""
    for paragraph in (command.get("discussion") or "").split("\n\n"):
        if not paragraph:
            continue
        yield f".PP\n.nf\n{text(paragraph)}\n.fi" if "\n" in paragraph else f".PP\n{text(paragraph)}"


def page(binary, version, epoch):
    """The page of section 1, in the man macros of troff."""
    dump = subprocess.run([binary, "--experimental-dump-help"], capture_output=True, text=True, check=True, timeout=60).stdout
    command = json.loads(dump)["command"]
    name = command["commandName"]
    shown = [one for one in command["subcommands"] if one["shouldDisplay"] and one["commandName"] != "help"]
    date = time.strftime("%Y-%m-%d", time.gmtime(epoch))
    lines = [
        f'.TH {name.upper()} 1 "{date}" "{name} {version}" "User Commands"',
        ".ad l",
        ".SH NAME", f"{text(name)} \\- {text(command['abstract'])}",
        ".SH SYNOPSIS", f".B {text(name)}\n.I command\n[\\fIoptions\\fR]",
        ".SH DESCRIPTION", *discussion(command), *described(command["arguments"]),
        ".SH COMMANDS",
    ]
    for one in shown:
        lines += [f".SS {text(one['commandName'])}", text(one.get("abstract", "")), *discussion(one), *described(one["arguments"])]
    lines += [
        ".SH FILES", ".TP\n.I /etc/lightstreamer\\-gateway/gateway.yaml\nThe configuration of the service.",
        ".SH ENVIRONMENT", f"Each setting has a variable; \\fB{text(name)} check \\-\\-keys\\fR lists them.",
    ]
    return "\n".join(lines) + "\n"
