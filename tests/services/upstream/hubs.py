"""Services with upstream servers, in a test's own loop."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nacre.core.catalog.caller import Caller
from nacre.services.audit.audit import Audit
from nacre.services.wiring import build_services
from nacre.settings.table import Settings
from nacre.system.storage.audit_log import AuditLog, RotationLimits

from services.people import House


def person(**values: str) -> Caller:
    """Return a person at a command line, whose environment has these values."""
    env = {"PATH": os.environ["PATH"]}
    return Caller(door="cli", person=True, env=env, values=values, pid=os.getpid())


def agent(name: str = "one", **values: str) -> Caller:
    """Return an agent at the bridge."""
    env = {"PATH": os.environ["PATH"]}
    return Caller(door="mcp", env=env, values=values, told_as=name, pid=os.getpid())


ME, AGENT = person(), agent()


@asynccontextmanager
async def hub(
    folder: Path, *tables: str, rules: str | None = None, **settings: Any
) -> AsyncIterator[House]:
    """Services whose config has these tables; all servers are ended when the block is left."""
    config = folder / "config"
    config.mkdir(exist_ok=True)
    write(folder, *tables)
    if rules is not None:
        (config / "policy.toml").write_text(rules)
    given = Settings(
        **{"approval_wait": 0.0, "approval_wait_alone": 0.0, "policy_check": 0.0, **settings}
    )
    limits = RotationLimits(given.audit_file_bytes, given.audit_files, given.audit_age)
    loop = asyncio.get_running_loop()
    audit = Audit(loop, given, lambda: AuditLog(str(folder / "audit"), limits))
    services = build_services(
        given,
        descriptor_limit=1024,
        home=str(folder),
        journals=str(folder / "state" / "sessions"),
        config=str(config),
        audit=audit,
    )
    try:
        yield House(services)
    finally:
        await services.upstreams.end_all()
        services.close_audit("stop")


def write(folder: Path, *tables: str) -> None:
    """Write the config, as a person does by hand."""
    (folder / "config" / "config.toml").write_text("\n".join(tables))


def text_of(answer: Any) -> str:
    (block,) = answer.content
    return str(block["text"])


def summary(house: House, name: str) -> Any:
    return house.services.upstreams.hub().server(name)


def recorded(folder: Path, kind: str) -> "list[Mapping[str, Any]]":
    """Return the records of a kind that the audit has on disk."""
    import json

    lines = [
        line
        for path in sorted((folder / "audit").glob("*"))
        if path.suffix in (".jsonl", ".log")
        for line in path.read_text().splitlines()
    ]
    return [one for line in lines if (one := json.loads(line))["kind"] == kind]
