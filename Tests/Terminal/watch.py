"""Uses `watch` in a pseudo-terminal and in a pipe as a person would.

    python watch.py .build/debug/lightstreamer-gateway

Ends 0 once every check holds; prints the first that does not, and ends 1.
"""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Browser"))

import gateway

PATIENCE = 60
ALTERNATE_SCREEN, MAIN_SCREEN = "\x1b[?1049h", "\x1b[?25h\x1b[?1049l"


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, command, columns=80, rows=12, **environment):
        self.text = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            # The terminal of the test, whatever this one is.
            os.environ.pop("NO_COLOR", None)
            os.environ.update({"TERM": "xterm-256color", **environment})
            # The size is set by the parent before the program starts.
            os.read(0, 1)
            os.execvp(command[0], command)
        self.resize(columns, rows)
        os.write(self.terminal, b"\n")

    def resize(self, columns, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, key):
        os.write(self.terminal, key)

    def read(self):
        """More output; empty at the end."""
        if not select.select([self.terminal], [], [], PATIENCE)[0]:
            raise RuntimeError(f"no more output; at last: {self.text[-300:]!r}")
        try:
            return os.read(self.terminal, 1 << 16).decode(errors="replace")
        except OSError:
            return ""

    def until(self, pattern):
        """Reads until what follows the last match has the pattern."""
        deadline = time.monotonic() + PATIENCE
        while not (match := re.search(pattern, self.text, re.S)):
            more = self.read()
            self.text += more
            if not more or time.monotonic() > deadline:
                raise RuntimeError(f"never seen: {pattern!r}; at last: {self.text[-300:]!r}")
        self.text = self.text[match.end():]
        return match[0]

    def end(self):
        """The exit status, after the rest of the output."""
        while more := self.read():
            self.text += more
        _, status = os.waitpid(self.process, 0)
        self.process = None
        return os.waitstatus_to_exitcode(status)

    def kill(self):
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.terminal)


def expect(condition, words):
    if not condition:
        raise RuntimeError(words)


@contextlib.contextmanager
def watching(program, address, *arguments, columns=80, rows=12, **environment):
    terminal = Terminal([program, "watch", "--gateway", address, *arguments], columns, rows, **environment)
    try:
        yield terminal
    finally:
        terminal.kill()


QUOTES = ("--items", "item1,item2", "--fields", "stock_name,last_price,time")


def a_table_changes_in_place_and_q_ends_it(program, address):
    with watching(program, address, *QUOTES) as terminal:
        terminal.until(re.escape(ALTERNATE_SCREEN))
        terminal.until(r"item1  .*CONNECTED:[A-Z-]+ · q: quit · \d+ updates · last \d+ s ago")
        terminal.until("\x1b\\[3[12]m *[0-9.]+[▲▼]")
        terminal.press(b"q")
        status = terminal.end()
        expect(status == 0 and MAIN_SCREEN in terminal.text, f"ended with {status}: {terminal.text[-200:]!r}")
        rest = terminal.text.split(MAIN_SCREEN)[1]
        expect("item1" in rest and "q: quit" not in rest, f"the last values do not stay: {rest!r}")


def every_way_to_end_restores_the_terminal(program, address):
    command = f'"{program}" watch --gateway {address} --items item1 --fields last_price; stty -a'
    terminal = Terminal(["sh", "-c", command])
    try:
        terminal.until("item1")
        terminal.press(b"\x03")
        terminal.until(re.escape(MAIN_SCREEN))
        terminal.until(r"[^-]icanon.*[^-]echo ")
        expect(terminal.end() == 0, "not ended with 0")
    finally:
        terminal.kill()
    for number in (signal.SIGTERM, signal.SIGINT):
        with watching(program, address, *QUOTES) as terminal:
            terminal.until("item1")
            os.kill(terminal.process, number)
            terminal.until(re.escape(MAIN_SCREEN))
            expect(terminal.end() == 0, f"not ended with 0 by {number.name}")


def lines_follow_the_width_of_the_terminal(program, address):
    with watching(program, address, *QUOTES, NO_COLOR="1") as terminal:
        for columns in (80, 24, 9, 120):
            terminal.resize(columns, 8)
            # The second picture from now on was drawn after the change.
            terminal.until("\x1b\\[H.*?\x1b\\[H")
            picture = terminal.until("item.*?(?=\x1b\\[H)")
            lines = re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", picture).replace("\r\r\n", "\n").replace("\r\n", "\n").split("\n")
            expect(len(lines) == 8 and all(len(line) <= columns for line in lines), f"{columns} columns: {lines}")
            expect("\x1b[3" not in picture, f"colors: {picture!r}")
        terminal.press(b"q")
        terminal.end()


def errors_stay_on_the_terminal(program, address):
    for arguments, words in {
        ("--items", "nope", "--fields", "last_price"): "item group does not exist",
        ("--items", "item1", "--fields", "nope"): "field schema does not exist",
        ("--items", "item1", "--fields", "last_price", "--upstream", "nope"): "(404)",
    }.items():
        with watching(program, address, *arguments) as terminal:
            status = terminal.end()
            rest = terminal.text.split(MAIN_SCREEN)[1]
            expect(status == 1 and words in rest, f"{arguments} ended with {status}: {rest!r}")


def a_gateway_that_is_gone_is_named_once_and_awaited(program, address):
    with watching(program, "http://127.0.0.1:1", *QUOTES, TERM="dumb") as terminal:
        terminal.until("Cannot read from http://127.0.0.1:1: the connection was refused. Trying again.")
        terminal.press(b"\x03")
        expect(terminal.end() == -signal.SIGINT, "not ended by the signal")


def a_pipe_has_lines_and_its_reader_may_go(program, address):
    for arguments, pattern in (((), r"item[12] .*last_price="), (("--json",), r'\{"event":')):
        process = subprocess.Popen([program, "watch", "--gateway", address, *QUOTES, *arguments],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            line = process.stdout.readline()
            process.stdout.close()
            expect(re.match(pattern, line), f"not a line: {line!r}")
            expect(process.wait(PATIENCE) == 0, f"ended with {process.returncode}")
        finally:
            process.kill()


CHECKS = [
    a_table_changes_in_place_and_q_ends_it, every_way_to_end_restores_the_terminal,
    lines_follow_the_width_of_the_terminal, errors_stay_on_the_terminal,
    a_gateway_that_is_gone_is_named_once_and_awaited, a_pipe_has_lines_and_its_reader_may_go,
]


def main(program):
    with gateway.demo(program) as (address, _):
        gateway.run(CHECKS, program, address)
    print(f"watch: {len(CHECKS)} checks")


if __name__ == "__main__":
    gateway.script("watch", main)
