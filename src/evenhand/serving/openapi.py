"""The OpenAPI page, and what it says of routes that read their bodies themselves.

The page is plain HTML: the usual ones fetch their scripts from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.openapi.spec import (
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    RequestBody,
    Schema,
)
from litestar.openapi.spec.enums import OpenAPIType

from evenhand.serving import discovery
from evenhand.serving.templates import rendered


def described(summary: str, asked: str, answered: str, required: Sequence[str]) -> type[Operation]:
    """An operation whose body and answer are schemas of the discovery document."""
    known: dict[str, Any] = discovery.document("/")["schemas"]
    body, reply = (_schema(known, {"$ref": name}) for name in (asked, answered))
    body.required = list(required)
    return _operation(summary, body, reply)


def described_by(
    summary: str, asked: type[msgspec.Struct], answered: type[msgspec.Struct]
) -> type[Operation]:
    """An operation whose body and answer are structures of ours."""
    found, known = msgspec.json.schema_components([asked, answered])
    return _operation(summary, *(_schema(known, one) for one in found))


def _schema(known: Mapping[str, Any], given: Mapping[str, Any]) -> Schema:
    """A JSON schema with its references filled in; those of Google's documents are bare names."""
    if "$ref" in given:
        given = {**known[given["$ref"].rpartition("/")[2]], **given}
    kinds, items, more = (given.get(name) for name in ("type", "items", "additionalProperties"))
    return Schema(
        type=OpenAPIType(kinds) if kinds else None,
        description=given.get("description"),
        enum=given.get("enum"),
        items=_schema(known, items) if items else None,
        properties={name: _schema(known, one) for name, one in given["properties"].items()}
        if "properties" in given
        else None,
        required=given.get("required") or None,
        any_of=[_schema(known, one) for one in given["anyOf"]] if "anyOf" in given else None,
        min_items=given.get("minItems"),
        max_items=given.get("maxItems"),
        additional_properties=_schema(known, more)
        if isinstance(more, dict) and more
        else (more if isinstance(more, bool) else None),
    )


_REFUSED = Schema(
    type=OpenAPIType.OBJECT,
    properties={"error": Schema(type=OpenAPIType.OBJECT)},
    required=["error"],
)


def _operation(about: str, body: Schema, reply: Schema) -> type[Operation]:
    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            self.summary = about
            self.request_body = RequestBody(content=_json(body), required=True)
            self.responses = {
                "200": OpenAPIResponse(description="The answer.", content=_json(reply)),
                "4XX": OpenAPIResponse(description="Why there is none.", content=_json(_REFUSED)),
            }

    return Described


def _json(schema: Schema) -> dict[str, OpenAPIMediaType]:
    return {"application/json": OpenAPIMediaType(schema=schema)}


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


def _fields(operation: dict[str, Any]) -> list[dict[str, Any]]:
    content = operation.get("requestBody", {}).get("content", {})
    found = content.get("application/json", {}).get("schema", {})
    return [
        {
            "name": name,
            "kind": _kind(one),
            "about": one.get("description", ""),
            "required": name in found.get("required", ()),
        }
        for name, one in found.get("properties", {}).items()
    ]


def _kind(given: dict[str, Any]) -> str:
    if "anyOf" in given:
        kinds = [_kind(one) for one in given["anyOf"] if one.get("type") != "null"]
        return " or ".join(kinds)
    if given.get("type") == "array":
        return f"list of {_kind(given.get('items', {}))}"
    return str(given.get("type", "any"))
