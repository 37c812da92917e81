"""Writes the contract with its rules between members (x-rules) as part of the schemas.

    python strict_contract.py openapi.yaml strict.json

Code generators ignore the rules; tools that make up requests need them.
"""

import json
import sys

import yaml


def exploded(operation, rules):
    """The operation with one exploded object instead of the query parameters that `x-query` describes together."""
    query = operation.pop("x-query")
    names = set()

    def visit(schema):
        if "$ref" in schema:
            schema = rules[schema["$ref"].rsplit("/", 1)[1]]
        names.update(schema.get("properties", {}))
        for branch in schema.get("oneOf", []):
            visit(branch)

    visit(query)
    others = [each for each in operation["parameters"] if parameter_name(each) not in names]
    together = {"name": "query", "in": "query", "required": True, "style": "form", "explode": True, "schema": query}
    return {**operation, "parameters": [together] + others}


def parameter_name(parameter):
    if "$ref" in parameter:
        parameter = document["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
    return parameter["name"] if parameter["in"] == "query" else None


def strict(node, rules):
    if isinstance(node, list):
        return [strict(element, rules) for element in node]
    if not isinstance(node, dict):
        return node
    if "x-query" in node:
        node = exploded(dict(node), rules)
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
