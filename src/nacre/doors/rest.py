"""The operations as REST below /api, one route each, and their OpenAPI description.

Rule: routes, parameters and schemas follow from the catalog; nothing is stated here twice.
"""

import html
from base64 import b64decode
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from nacre import __version__
from nacre.core.catalog import Operation, Result, Spec, parse_parameters
from nacre.core.operations import CATALOG
from nacre.core.results import PictureTaken
from nacre.core.schema import input_schema, output_schema
from nacre.doors.exchange import decode_object, read_body, route
from nacre.doors.guard import error_response
from nacre.errors import WIRE, InvalidInput
from nacre.services.dispatch import Dispatch

PICTURES = {"png": "image/png", "svg": "image/svg+xml"}
# The text in a picture is a program's: should a browser show it, nothing in it runs or loads.
_PICTURE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

OPENAPI_PATH, DOCS_PATH = "/api/openapi.json", "/api/docs"


def build_routes(dispatch: Dispatch, *, max_body: int) -> list[Route]:
    routes = [_route(dispatch, spec, max_body) for spec in CATALOG.values()]
    document = describe()
    page = _page(document)

    async def openapi(request: Request) -> Response:
        return JSONResponse(document)

    async def docs(request: Request) -> Response:
        return HTMLResponse(page)

    pictures = [_picture_route(dispatch, form, max_body) for form in PICTURES]
    return [Route(OPENAPI_PATH, openapi), Route(DOCS_PATH, docs), *routes, *pictures]


def _route(dispatch: Dispatch, spec: Spec, max_body: int) -> Route:
    method, _, path = spec.route.partition(" ")

    async def build(request: Request) -> Operation:
        return await _read(request, spec, max_body)

    return route(dispatch, f"{method} /api{path}", build)


def _picture_route(dispatch: Dispatch, form: str, max_body: int) -> Route:
    """Make the route that answers with a picture itself, not with JSON."""
    spec = CATALOG["screenshot"]
    method, _, path = spec.route.partition(" ")

    async def build(request: Request) -> Operation:
        request.path_params["format"] = form
        return await _read(request, spec, max_body)

    def shape(result: Result) -> Response:
        assert isinstance(result, PictureTaken)
        picture = b64decode(result.data) if form == "png" else result.data.encode()
        return Response(picture, media_type=PICTURES[form], headers=_PICTURE_HEADERS)

    return route(dispatch, f"{method} /api{path}.{form}", build, shape)


async def _read(request: Request, spec: Spec, max_body: int) -> Operation:
    """Collect the parameters of path, query and body; the path wins over the others."""
    query = dict(request.query_params)
    if request.method == "GET":
        return parse_parameters(spec.type, {**query, **request.path_params}, strict=False)
    if query:
        raise InvalidInput("parameters of this route belong into the JSON body, not into the query")
    body = decode_object(await read_body(request, max_body))
    return parse_parameters(spec.type, {**body, **request.path_params})


def not_found(request: Request, error: Exception) -> Response:
    return error_response(
        "UNKNOWN_OPERATION", f"no route {request.method} {request.url.path}; see {DOCS_PATH}", 404
    )


def wrong_method(request: Request, error: Exception) -> Response:
    return error_response(
        "UNKNOWN_OPERATION",
        f"{request.url.path} does not take {request.method}; see {DOCS_PATH}",
        405,
    )


# --- description ---------------------------------------------------------------------------


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


_ERROR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"code": {"enum": sorted(WIRE)}, "message": {"type": "string"}},
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
    """Put what $defs hold where they are referred to: OpenAPI keeps such things elsewhere."""
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


def _page(document: dict[str, Any]) -> str:
    """Render the description as one page that needs nothing from elsewhere."""
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
