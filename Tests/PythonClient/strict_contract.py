"""Writes the contract with its rules between members (x-rules) as part of the schemas.

    python strict_contract.py openapi.yaml strict.json

Code generators ignore the rules; tools that make up requests need them.
"""

import json
import sys

import yaml


def strict(node, rules):
    if isinstance(node, list):
        return [strict(element, rules) for element in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref", "")
    if reference.startswith("#/x-rules/"):
        return strict(rules[reference.rsplit("/", 1)[1]], rules)
    result = {name: strict(value, rules) for name, value in node.items() if name != "x-rules"}
    if "x-rules" in node:
        result["allOf"] = result.get("allOf", []) + [strict(node["x-rules"], rules)]
    return result


with open(sys.argv[1], encoding="utf-8") as source:
    document = yaml.safe_load(source)
rules = document.pop("x-rules")
with open(sys.argv[2], "w", encoding="utf-8") as target:
    json.dump(strict(document, rules), target)
