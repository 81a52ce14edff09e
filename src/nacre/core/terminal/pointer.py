"""Mouse reports as the program asked for them: which events, and in which form, is the engine's.

Rule: an encoder lives for one call: a mouse is used rarely, so a session holds nothing for it.
"""

from collections.abc import Iterable
from typing import Any

from nacre.core.keys.pointing import PointerEvent
from nacre.core.terminal.ghostty import check, create, ffi, lib, new
from nacre.core.terminal.keyboard import ALT, CTRL, SHIFT

_CELL = 16  # pixels, both ways; any number will do, as cells are asked for in it
_LONGEST = 64  # bytes of a report

_ACTIONS = {
    "press": lib.GHOSTTY_MOUSE_ACTION_PRESS,
    "release": lib.GHOSTTY_MOUSE_ACTION_RELEASE,
    "move": lib.GHOSTTY_MOUSE_ACTION_MOTION,
}
# The wheel's buttons as xterm numbers them: 4 and 5, and 6 and 7 to the sides.
_BUTTONS = {
    "left": lib.GHOSTTY_MOUSE_BUTTON_LEFT,
    "middle": lib.GHOSTTY_MOUSE_BUTTON_MIDDLE,
    "right": lib.GHOSTTY_MOUSE_BUTTON_RIGHT,
    "wheel_up": lib.GHOSTTY_MOUSE_BUTTON_FOUR,
    "wheel_down": lib.GHOSTTY_MOUSE_BUTTON_FIVE,
    "wheel_left": lib.GHOSTTY_MOUSE_BUTTON_SIX,
    "wheel_right": lib.GHOSTTY_MOUSE_BUTTON_SEVEN,
}
_MODIFIERS = {
    "shift": SHIFT,
    "ctrl": CTRL,
    "alt": ALT,
}


def encode_pointer(handle: Any, rows: int, cols: int, events: Iterable[PointerEvent]) -> bytes:
    """Return the reports for a terminal's program; nothing for events that it does not want."""
    encoder = create("GhosttyMouseEncoder", lib.ghostty_mouse_encoder_new)
    event = create("GhosttyMouseEvent", lib.ghostty_mouse_event_new)
    try:
        lib.ghostty_mouse_encoder_setopt_from_terminal(encoder, handle)
        size = new("GhosttyMouseEncoderSize *")
        size.size = ffi.sizeof("GhosttyMouseEncoderSize")
        size.screen_width, size.screen_height = cols * _CELL, rows * _CELL
        size.cell_width = size.cell_height = _CELL
        lib.ghostty_mouse_encoder_setopt(encoder, lib.GHOSTTY_MOUSE_ENCODER_OPT_SIZE, size)
        return b"".join(_encode(encoder, event, one) for one in events)
    finally:
        lib.ghostty_mouse_event_free(event)
        lib.ghostty_mouse_encoder_free(encoder)


def _encode(encoder: Any, event: Any, given: PointerEvent) -> bytes:
    lib.ghostty_mouse_event_set_action(event, _ACTIONS[given.action])
    if given.button is None:
        lib.ghostty_mouse_event_clear_button(event)
    else:
        lib.ghostty_mouse_event_set_button(event, _BUTTONS[given.button])
    held = new("bool *", given.button is not None and given.action != "release")
    option = lib.GHOSTTY_MOUSE_ENCODER_OPT_ANY_BUTTON_PRESSED
    lib.ghostty_mouse_encoder_setopt(encoder, option, held)
    lib.ghostty_mouse_event_set_mods(event, sum(_MODIFIERS[name] for name in given.modifiers))
    middle = new("GhosttyMousePosition *")
    middle.x, middle.y = (given.col + 0.5) * _CELL, (given.row + 0.5) * _CELL
    lib.ghostty_mouse_event_set_position(event, middle[0])
    buffer, size = new("char[]", _LONGEST), new("size_t *")
    encode = lib.ghostty_mouse_encoder_encode
    check(encode(encoder, event, buffer, _LONGEST, size), "encode a mouse report")
    code: bytes = ffi.buffer(buffer, size[0])[:]
    return code
