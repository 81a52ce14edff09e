"""Names: any folder gives one, and none can be mistaken for a port or an id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import steady
from nacre.errors import InvalidInput
from nacre.services.registry.names import MAX_NAME, check_name, name_from_folder

FOLDERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.sampled_from(
    ["/", "", "/home/me/work", "/12345", "/deadbeef", "/" + "1" * 80, "/" + "é" * 80, "/..", "/-x"]
)


@steady
@given(FOLDERS, st.integers(0, 12))
def test_any_folder_gives_a_valid_and_free_name(folder: str, others: int) -> None:
    taken: set[str] = set()
    for _ in range(others + 1):
        name = name_from_folder(folder, taken)
        check_name(name)
        assert name not in taken
        taken.add(name)


def test_folder_s_own_name_is_kept_where_it_can_be() -> None:
    assert name_from_folder("/home/me/work", ()) == "work"
    assert name_from_folder("/home/me/work/", ("work", "work-2")) == "work-3"
    assert name_from_folder("/home/me/My Project (2)", ()) == "My-Project-2"
    assert name_from_folder("/srv/.config", ()) == "config"
    assert name_from_folder("/", ()) == "session"
    assert name_from_folder("/2024", ()) == "session-2024"
    assert name_from_folder("/deadbeef", ()) == "session-deadbeef"


@pytest.mark.parametrize("name", ["dev", "a", "7z", "x.y_z-1+2@h:3", "ünïcode", "deadbee", "0x"])
def test_name_is_accepted(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["20000", "0", "٣", "²", "deadbeef", "DEADBEEF", "12345678"])
def test_name_in_the_shape_of_a_port_or_an_id_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="put a letter before it"):
        check_name(name)


@pytest.mark.parametrize(
    "name", ["", "-x", "_x", ".x", "a b", "a/b", "a\n", "a\0", "\x1b[31m", "x" * (MAX_NAME + 1)]
)
def test_name_that_fits_no_list_or_url_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"\+ @ :, beginning with a letter or digit$"):
        check_name(name)
