"""The OpenAPI page, and what it says of routes that read their bodies themselves.

The page is plain HTML: the usual ones fetch their scripts from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIType

from evenhand.serving import discovery
from evenhand.serving.templates import rendered

_KINDS = {
    "string": OpenAPIType.STRING,
    "integer": OpenAPIType.INTEGER,
    "number": OpenAPIType.NUMBER,
    "boolean": OpenAPIType.BOOLEAN,
}


def described(summary: str, schema: str) -> type[Operation]:
    """An operation whose body is a schema of the discovery document."""
    return _operation(summary, _schema(discovery.document("/")["schemas"], {"$ref": schema}))


def described_by(summary: str, kind: type[msgspec.Struct]) -> type[Operation]:
    """An operation whose body is a structure of ours."""
    (found,), known = msgspec.json.schema_components([kind])
    return _operation(summary, _of_json(known, found))


def _of_json(known: dict[str, Any], given: dict[str, Any]) -> Schema:
    """A JSON schema with its references filled in."""
    if "$ref" in given:
        given = known[given["$ref"].rpartition("/")[2]]
    kinds = given.get("type")
    return Schema(
        type=OpenAPIType(kinds) if kinds else None,
        description=given.get("description"),
        items=_of_json(known, given["items"]) if given.get("items") else None,
        properties={name: _of_json(known, one) for name, one in given["properties"].items()}
        if "properties" in given
        else None,
        required=given.get("required") or None,
        any_of=[_of_json(known, one) for one in given["anyOf"]] if "anyOf" in given else None,
        min_items=given.get("minItems"),
        max_items=given.get("maxItems"),
        additional_properties=_of_json(known, more)
        if isinstance(more := given.get("additionalProperties"), dict) and more
        else (more if isinstance(more, bool) else None),
    )


def _operation(about: str, body: Schema) -> type[Operation]:
    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            self.summary = about
            self.request_body = RequestBody(
                content={"application/json": OpenAPIMediaType(schema=body)}, required=True
            )

    return Described


def _schema(known: dict[str, Any], given: dict[str, Any]) -> Schema:
    if "$ref" in given:
        given = known[given["$ref"]]
    if given["type"] == "array":
        return Schema(type=OpenAPIType.ARRAY, items=_schema(known, given["items"]))
    if given["type"] != "object":
        return Schema(type=_KINDS[given["type"]], enum=given.get("enum"))
    if "additionalProperties" in given:
        return Schema(
            type=OpenAPIType.OBJECT,
            additional_properties=_schema(known, given["additionalProperties"]),
        )
    return Schema(
        type=OpenAPIType.OBJECT,
        description=given["description"],
        properties={name: _schema(known, one) for name, one in given["properties"].items()},
    )


class ApiPage(OpenAPIRenderPlugin):
    """All routes on one page."""

    def __init__(self) -> None:
        super().__init__(path="/")

    def render(self, request: Any, openapi_schema: dict[str, Any]) -> bytes:
        """The page."""
        routes = [
            {
                "method": method.upper(),
                "path": path,
                "about": one.get("summary", ""),
                "group": (one.get("tags") or ["Other"])[0],
                "fields": _fields(one),
            }
            for path, methods in openapi_schema["paths"].items()
            for method, one in methods.items()
            if isinstance(one, dict)
        ]
        groups: dict[str, list[dict[str, Any]]] = {}
        for route in routes:
            groups.setdefault(route["group"], []).append(route)
        return rendered("api.html", groups=groups).encode()


def _fields(operation: dict[str, Any]) -> list[tuple[str, str]]:
    content = operation.get("requestBody", {}).get("content", {})
    found = content.get("application/json", {}).get("schema", {})
    return [(name, _kind(one)) for name, one in found.get("properties", {}).items()]


def _kind(given: dict[str, Any]) -> str:
    if "anyOf" in given:
        return " or ".join(_kind(one) for one in given["anyOf"])
    if given.get("type") == "array":
        return f"list of {_kind(given.get('items', {}))}"
    return str(given.get("type", "any"))
