#!/usr/bin/env python3
"""Checks that histories of operations are linearizable: that each operation could have taken effect at one moment between its
call and its response, in one order that explains all results.

    Tests/Cluster/linear.py [FILE...]

A file has an operation a line, as JSON; `Tests/Cluster/run` writes it as histories.log. Without a file, the checker checks
itself: correct histories have to be accepted, and wrong ones refused.

The search is that of Wing and Gong with the memory of Lowe: it goes through the orders in which the operations may have taken
effect, and visits each pair of operations done and state once.
"""

import json
import sys
from collections import namedtuple

# An operation on an object. `ended` is None if the result is not known: it may take effect at any time after its call, or never.
Operation = namedtuple("Operation", "object kind action value result called ended")


def subscription(state, action, value, result):
    """A resource with one value: None before its creation, then whether it is there, its value, and its id."""
    if action == "create":
        # Repetitions under the same key have the same answer, also after the resource was changed or deleted.
        is_there, current, name = state or (True, None, None)
        return [(is_there, current, name or result)] if None in (name, result) or name == result else []
    is_there = state is not None and state[0]
    if action == "read":
        return [state] if result is None or result == ([state[1]] if is_there else []) else []
    after = (True, value, state[2]) if is_there and action == "change" else (False, None, state and state[2])
    if result is None:
        return [state, after] if is_there else [state]
    return [after if is_there else state] if is_there == (result == "done") else []


def ticket(state, action, value, result):
    """A ticket, which opens one stream: None, then "used"."""
    if result == "refused":
        return [state] if state else []
    return [] if state and result == "opened" else ["used"]


def quota(state, action, value, result):
    """The number of resources of a caller, who may have `value` of them."""
    count = state or 0
    if action == "delete":
        return [count - 1] if count else []
    if result == "refused":
        return [count] if count >= value else []
    return [count + 1] if count < value else []


MODELS = {"subscription": subscription, "ticket": ticket, "quota": quota}


def is_linearizable(history):
    """Whether there is such an order of the operations of one object."""
    history = sorted(history, key=lambda operation: operation.called)
    model = MODELS[history[0].kind]
    needed = sum(1 << index for index, operation in enumerate(history) if operation.ended is not None)
    waiting, seen = [(0, None)], {(0, None)}
    while waiting:
        done, state = waiting.pop()
        if done & needed == needed:
            return True
        open_ones = [index for index in range(len(history)) if not done >> index & 1]
        # An operation that was called after the end of another one cannot take effect before it.
        first = min(history[index].ended for index in open_ones if history[index].ended is not None)
        for index in open_ones:
            operation = history[index]
            if operation.called > first:
                break
            for following in model(state, operation.action, operation.value, operation.result):
                step = (done | 1 << index, following)
                if step not in seen:
                    seen.add(step)
                    waiting.append(step)
    return False


def violations(operations):
    """The histories, by object, that have no such order."""
    histories = {}
    for operation in operations:
        histories.setdefault(operation.object, []).append(operation)
    return {name: history for name, history in histories.items() if not is_linearizable(history)}


def described(history):
    return "; ".join(
        f"{operation.action}({operation.value}) = {operation.result} "
        f"[{operation.called:.3f}, {operation.ended and round(operation.ended, 3)}]"
        for operation in sorted(history, key=lambda operation: operation.called)
    )


def history(kind, *operations):
    """A history of one object from tuples of action, value, result, called, ended."""
    return [Operation("x", kind, *operation) for operation in operations]


# Whether each history is linearizable.
EXAMPLES = [
    (True, history("subscription", ("create", None, "a", 0, 1), ("read", None, [None], 2, 3))),
    (False, history("subscription", ("create", None, "a", 0, 1), ("read", None, [], 2, 3))),
    # Overlapping calls may take effect in any order.
    (True, history("subscription", ("create", None, "a", 0, 3), ("read", None, [], 1, 2))),
    (True, history("subscription", ("create", None, "a", 0, 1), ("create", None, "a", 0, 2))),
    (False, history("subscription", ("create", None, "a", 0, 1), ("create", None, "b", 0, 2))),
    # A lost change, an outdated value, and a value that goes back.
    (False, history("subscription", ("create", None, "a", 0, 1), ("change", 5, "done", 2, 3), ("read", None, [None], 4, 5))),
    (True, history("subscription", ("create", None, "a", 0, 1), ("change", 5, None, 2, None), ("read", None, [None], 4, 5),
                   ("read", None, [5], 6, 7))),
    (False, history("subscription", ("create", None, "a", 0, 1), ("change", 5, None, 2, None), ("read", None, [5], 4, 5),
                    ("read", None, [None], 6, 7))),
    (False, history("subscription", ("create", None, "a", 0, 1), ("change", 5, "done", 2, 9), ("change", 6, "done", 2, 9),
                    ("read", None, [5], 3, 4), ("read", None, [6], 5, 6), ("read", None, [5], 7, 8))),
    # A deletion lasts, and happens once.
    (False, history("subscription", ("create", None, "a", 0, 1), ("delete", None, "done", 2, 3), ("read", None, [None], 4, 5))),
    (False, history("subscription", ("create", None, "a", 0, 1), ("delete", None, "done", 2, 3), ("delete", None, "done", 4, 5))),
    (True, history("subscription", ("create", None, "a", 0, 1), ("delete", None, None, 2, None), ("delete", None, "missing", 3, 4),
                   ("create", None, "a", 5, 6), ("read", None, [], 7, 8))),
    (True, history("ticket", ("open", None, "opened", 0, 1), ("open", None, "refused", 0, 2))),
    (False, history("ticket", ("open", None, "opened", 0, 1), ("open", None, "opened", 0, 2))),
    (False, history("ticket", ("open", None, "refused", 0, 1), ("open", None, "opened", 2, 3))),
    (True, history("ticket", ("open", None, None, 0, None), ("open", None, "refused", 1, 2))),
    (True, history("quota", ("create", 1, "done", 0, 1), ("create", 1, "refused", 2, 3), ("delete", 1, "done", 4, 5),
                   ("create", 1, "done", 4, 6))),
    (False, history("quota", ("create", 1, "done", 0, 1), ("create", 1, "done", 0, 2))),
    (False, history("quota", ("create", 1, "done", 0, 1), ("delete", 1, "done", 2, 3), ("create", 1, "refused", 4, 5))),
]


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            operations = [Operation(*json.loads(line)) for line in file]
        found = violations(operations)
        for name, wrong in found.items():
            print(f"{name}: {described(wrong)}")
        print(f"{len(operations)} operations on {len({operation.object for operation in operations})} objects")
        if found:
            sys.exit(1)
    if len(sys.argv) == 1:
        wrong = [example for expected, example in EXAMPLES if is_linearizable(example) != expected]
        sys.exit("\n".join(f"judged wrongly: {described(example)}" for example in wrong) or 0)


if __name__ == "__main__":
    main()
