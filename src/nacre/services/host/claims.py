"""Who else must agree to the name of a session: in a cluster, the other hosts."""

from typing import Any, Protocol

from nacre.errors import InvalidInput


class OtherHosts(Protocol):
    async def claim(self, name: str | None, folder: str) -> str:
        """Return the name of a new session; without one, a free one made from its folder's.

        Raises SessionExists for a name that a session on another host has.
        """

    def release(self, name: str, *, promised: bool = True) -> None:
        """The name is not used after all; or no longer, if it was not claimed just now."""

    async def noted(self) -> None:
        """Wait until the others can know of a new session, should this host be lost now.

        Not for long: without its store the cluster is told later.
        """


class NameClaims:
    """Nobody has to agree, outside of a cluster."""

    others: OtherHosts | None = None

    def check_host(self, request: Any) -> None:
        """Raise InvalidInput for a new session that is wanted on a certain host, if we are alone.

        In a cluster such a call was taken to that host before it came here.
        """
        if self.others is None and (request.host is not None or request.labels):
            raise InvalidInput(
                "this daemon is in no cluster: there are no hosts to choose from",
                "leave host and labels out",
            )
