"""What is typed into a session: the way to its child, and what is known of the line it makes.

Rule 1: the permit of the call is asked here, and nothing comes between its answer and the write.
Rule 2: what must not be seen is in no journal and no audit.
"""

from nacre.core.journal import records as journal
from nacre.core.operations.watch import Receipt
from nacre.core.shell.entering import TypedLine, may_run
from nacre.core.text.placeholders import PLACE
from nacre.late_pattern import late_pattern
from nacre.services.dispatch.permit import require_permit
from nacre.services.host.host import Host
from nacre.services.session.audit_trail import AuditTrail
from nacre.services.session.identity import Identity
from nacre.services.session.output import OutputStream
from nacre.services.session.recorder import Recorder
from nacre.services.session.screen import LiveScreen
from nacre.services.session.supervisor import Supervisor
from nacre.system.storage.ring import Ring

_ESCAPE_KEY = late_pattern(rb"\x1b(?![\[O])")  # that key itself, not the beginning of another
_ENDS = late_pattern(rb"[\x03\x1a\x1c]")  # Ctrl+C, Ctrl+Z, Ctrl+\
_PLACE = PLACE.encode()


class SessionInput:
    def __init__(
        self,
        identity: Identity,
        supervisor: Supervisor,
        stream: OutputStream,
        screen: LiveScreen,
        recorder: Recorder,
        trail: AuditTrail,
        ring: Ring,
        host: Host,
    ) -> None:
        self.last_input = ring.typed_at or host.loop.time()
        self.in_escape = False  # the last key that was typed is an Escape
        self.inputs = 0  # counts inputs: the loop's clock is too coarse to order them
        self.entered = 0  # the count at the last input that may have run or ended something
        self.interrupts = 0  # counts Ctrl+C
        self.interrupted: int | None = None  # the foreground processes at the last of them
        self.line = TypedLine()
        self._escaped_at = -1  # commands that had ended when Escape was last typed
        self._identity = identity
        self._supervisor = supervisor
        self._stream = stream
        self._screen = screen
        self._recorder = recorder
        self._trail = trail
        self._ring = ring
        self._host = host

    def begin(self) -> None:
        """Know that a new child's line is empty."""
        self.line = TypedLine(fresh=True)

    def write(self, data: bytes, recorded: bytes | None, receipt: Receipt | None) -> None:
        """See Session.write."""
        child = self._supervisor.require()
        caller = require_permit(self._identity.id, data)
        written = data
        if _PLACE in data and caller is not None and not (caller.person and caller.key):
            written = self._host.secrets.fill_bytes(data, self._identity.name)
        self.last_input = self._ring.typed_at = self._host.loop.time()
        at_prompt = self._note(data)
        self._stream.activity.typing(caller, data, at_prompt=at_prompt)
        if child.interrupted_by(data):
            self._stream.note_typing()
            self._trail.input(caller, data, visible=True)
            if receipt is not None:
                receipt.settle()
            return
        shown = data if recorded is None else recorded
        visible = bool(shown) and (at_prompt or child.shows_input)
        if shown:
            self._trail.input(caller, shown, visible=visible)
        child.input.write(written, "" if caller is None else caller.key, receipt)
        # The program works meanwhile; what it prints is read later.
        self._stream.note_typing()
        if shown:
            generation = self._screen.generation
            self._recorder.note(journal.INPUT, shown if visible else b"", generation)

    def _note(self, data: bytes) -> bool:
        """Take note of what is typed; return whether a shell's prompt reads it."""
        prompting = self._stream.prompting
        at_prompt = prompting.phase in ("prompt", "continuation") and self._supervisor.in_foreground
        self.line.note(data, prompting.place, self.inputs, reads=at_prompt)
        self.inputs += 1
        if may_run(data) or _ENDS.search(data):
            self.entered = self.inputs
        if b"\x03" in data and not at_prompt:  # there it cuts nothing short but a line
            self.note_interrupt()
        self.in_escape = data.endswith(b"\x1b")
        if b"\x1b" in data and _ESCAPE_KEY.search(data):
            self._escaped_at = prompting.ended
        return at_prompt

    def note_interrupt(self) -> None:
        """Ctrl+C, or the signal that it sends, is on its way to the foreground program."""
        self.interrupts += 1
        self.interrupted = self._supervisor.foreground

    @property
    def in_vi_commands(self) -> bool:
        """Whether the shell's line editor may take letters for commands, as vi does."""
        prompting = self._stream.prompting
        escaped = self._escaped_at == prompting.ended
        return escaped and prompting.edits_like_vi and prompting.phase == "prompt"

    @property
    def known_line(self) -> str | None:
        """What the line of its own shell holds, as far as what was typed tells; None: unknown."""
        prompting = self._stream.prompting
        if prompting.edits_like_vi:  # what was typed may have been commands
            return self.line.told(self.inputs)
        return self.line.known(prompting.place, self.inputs)
