"""What each sandbox profile is, as a table.

Rule: whatever differs between profiles is said here, and by no name of a profile elsewhere.
"""

from typing import Literal, NamedTuple

from nacre.core.policy.verdicts import Sandbox


class Profile(NamedTuple):
    name: Sandbox
    workspace: Literal["read", "write", "layer"]  # a layer takes what is written, for a review
    whole: bool  # all of the machine can be read, but what is hidden; else the system's folders
    denies: bool  # the programs of the setting sandbox_deny are replaced by one that refuses


_ALL = (
    Profile("readonly", "read", whole=True, denies=False),
    Profile("workspace", "write", whole=True, denies=False),
    Profile("strict", "write", whole=False, denies=True),
    Profile("review", "layer", whole=True, denies=False),
)
PROFILES: dict[str, Profile] = {profile.name: profile for profile in _ALL}


def needs_layer(name: str) -> bool:
    return name in PROFILES and PROFILES[name].workspace == "layer"
