"""The description of the REST door, as an OpenAPI document and as a page for people.

Rule: everything comes from the catalog; nothing is stated here a second time.
"""

import html
from functools import cache
from typing import Any

from nacre import __version__
from nacre.core.catalog.catalog import Spec
from nacre.core.catalog.schema import input_schema, output_schema
from nacre.core.operations.all import CATALOG
from nacre.errors import WIRE

# Routes that answer with the picture itself.
PICTURES = {"png": "image/png", "svg": "image/svg+xml"}


@cache
def describe() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the catalog."""
    paths: dict[str, Any] = {}
    for spec in CATALOG.values():
        method, _, path = spec.route.partition(" ")
        paths.setdefault(f"/api{path}", {})[method.lower()] = _describe_route(spec, method, path)
    for form, media in PICTURES.items():
        path, described = _describe_picture(form, media)
        paths[path] = {"get": described}
    return {
        "openapi": "3.1.0",
        "info": {"title": "nacre", "version": __version__},
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


def _describe_route(spec: Spec, method: str, path: str) -> dict[str, Any]:
    schema = input_schema(spec.type)
    properties = schema["properties"]
    in_path = [name for name in properties if f"{{{name}}}" in path]
    rest = [name for name in properties if name not in in_path]
    required = set(schema.get("required", ()))
    parameters = [_parameter(name, "path", properties[name], required=True) for name in in_path]
    described: dict[str, Any] = {
        "operationId": spec.name,
        "summary": spec.doc.partition("\n")[0],
        "description": spec.doc,
        "responses": {
            "200": {"description": "Done.", "content": _json(_inline(output_schema(spec.result)))},
            "default": {"description": "Refused or failed.", "content": _json(_ERROR)},
        },
    }
    if method == "GET":
        parameters += [
            _parameter(name, "query", properties[name], required=name in required) for name in rest
        ]
    elif rest:
        body = {
            "type": "object",
            "properties": {name: properties[name] for name in rest},
            "required": [name for name in rest if name in required],
            "additionalProperties": False,
        }
        described["requestBody"] = {"required": bool(body["required"]), "content": _json(body)}
    if parameters:
        described["parameters"] = parameters
    return described


def _describe_picture(form: str, media: str) -> tuple[str, dict[str, Any]]:
    spec = CATALOG["screenshot"]
    method, _, path = spec.route.partition(" ")
    described = _describe_route(spec, method, path)
    described["operationId"] = f"{spec.name}_{form}"
    described["parameters"] = [
        known for known in described["parameters"] if known["name"] != "format"
    ]
    content = {media: {"schema": {"type": "string", "contentMediaType": media}}}
    described["responses"]["200"] = {"description": "The picture.", "content": content}
    return f"/api{path}.{form}", described


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "operation": _text("Its operationId."),
        "route": _text("Method and path, with what is known filled in."),
        "params": {"type": "object", "description": "What goes into the query or the body."},
        "why": _text("What it is for."),
    },
    "required": ["operation", "route", "params", "why"],
    "additionalProperties": False,
}
_ERROR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"enum": sorted(code for code, wire in WIRE.items() if wire.http)},
                "message": _text("What happened, and the next step."),
                "next": {
                    "type": "array",
                    "items": _STEP,
                    "description": "Those steps of the message that are calls, as alternatives.",
                },
                "parameters": _texts("The parameters that do not fit."),
                "expected": _text("What the parameter must be."),
                "limit": _text("The limit that it breaks."),
                "most": {"type": "integer", "description": "The longest wait, in ms."},
                "allowed": _texts("The words that it can be."),
                "given": {"description": "What was given, if it is short."},
                "takes": _texts("The parameters that there are."),
                "driver": _text("CONTROL_HELD: the person who drives."),
                "generation": {"type": "integer", "description": "TIMEOUT: the one reached."},
                "exit_code": {"type": ["integer", "null"], "description": "SESSION_DEAD."},
                "signal": {"type": ["string", "null"], "description": "SESSION_DEAD."},
            },
            "required": ["code", "message"],
        }
    },
    "required": ["error"],
}


def _parameter(name: str, place: str, schema: Any, *, required: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": schema}


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace references to $defs with what they stand for: OpenAPI has another place for them."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(item) for item in node]
        if isinstance(node, dict):
            if reference := node.get("$ref"):
                return resolve(definitions[reference.rpartition("/")[2]])
            return {key: resolve(value) for key, value in node.items()}
        return node

    resolved = resolve(schema)
    assert isinstance(resolved, dict)
    return resolved


def describe_as_page(document: dict[str, Any]) -> str:
    """Render the description as one page that loads nothing from elsewhere."""
    parts = []
    for path, methods in document["paths"].items():
        for method, entry in methods.items():
            parts.append(_page_entry(path, method, entry))
    return _PAGE.format(version=html.escape(__version__), routes="\n".join(parts))


def _page_entry(path: str, method: str, route: dict[str, Any]) -> str:
    rows = []
    for parameter in route.get("parameters", ()):
        rows.append(
            (parameter["name"], parameter["in"], parameter["required"], parameter["schema"])
        )
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    for name, schema in body.get("schema", {}).get("properties", {}).items():
        rows.append((name, "body", name in body["schema"]["required"], schema))
    table = "".join(
        f"<tr><td><code>{html.escape(name)}</code>{'*' if needed else ''}<td>{place}"
        f"<td>{html.escape(_kind(schema))}<td>{html.escape(schema.get('description', ''))}"
        for name, place, needed, schema in rows
    )
    return (
        f"<section><h2><b class={method}>{method.upper()}</b> <code>{html.escape(path)}</code></h2>"
        f"<p>{html.escape(route['description'])}</p>"
        + (f"<table><tr><th>parameter<th>in<th>type<th>meaning{table}</table>" if rows else "")
        + "</section>"
    )


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        kind = " | ".join(map(str, schema["enum"]))
    elif "anyOf" in schema:
        kind = " | ".join(option.get("type", "") for option in schema["anyOf"])
    else:
        kind = str(schema.get("type", ""))
    return f"{kind} = {schema['default']}" if "default" in schema else kind


_PAGE = """<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content="width=device-width,initial-scale=1"><title>nacre API</title>
<style>
:root{{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}}
body{{max-width:60rem;margin:2rem auto;padding:0 1rem}}
h1 small{{font-weight:400;opacity:.6;font-size:1rem}}
section{{border-top:1px solid #8884;padding:.6rem 0}}
h2{{font-size:1.05rem;margin:.4rem 0}} h2 b{{font:600 .8rem ui-monospace,monospace;
padding:.1rem .5rem;border-radius:.3rem;background:#2a6df433;margin-right:.4rem}}
h2 b.post{{background:#1a9c5a33}} p{{white-space:pre-line;margin:.3rem 0}}
table{{border-collapse:collapse;width:100%;font-size:.9rem}}
td,th{{text-align:left;padding:.15rem .6rem .15rem 0;vertical-align:top}}
th{{opacity:.6;font-weight:500}}
</style>
<h1>nacre <small>{version}</small></h1>
<p>Send the token with each request: <code>Authorization: Bearer TOKEN</code>.
<code>nacre status</code> names the file that holds it. {{session}} is a name, an id or a port.
The machine-readable description: <a href="/api/openapi.json">openapi.json</a>.
MCP is served at <code>/mcp</code>.</p>
{routes}
"""
