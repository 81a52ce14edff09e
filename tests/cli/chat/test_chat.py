"""`nacre chat` as people use it: a real process, a real daemon, a model on loopback."""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from cli.chat.model import ScriptedModel
from cli.conftest import Nacre
from cli.person import Person
from upstreams.configs import odd

Attend = Callable[..., Person]


def speaking(model: ScriptedModel, api: str = "anthropic") -> dict[str, str]:
    return {
        "NACRE_CHAT_URL": model.url,
        "NACRE_CHAT_MODEL": "small",
        "NACRE_CHAT_API": api,
        "PROMPT_TOOLKIT_NO_CPR": "1",  # the test's terminal answers no questions
    }


def prompted(person: Person) -> None:
    """Return when the chat waits for words: what is typed before that may get lost."""

    def is_prompt() -> bool:
        rows = [row for row in person.text.splitlines() if row]
        return person.is_raw and rows[-1:] == [">"]

    person.see(is_prompt)


def results(model: ScriptedModel, api: str) -> str:
    """Return what tools answered, as the model was told last."""
    return str(model.told(api))


@pytest.mark.parametrize("api", ["anthropic", "openai"])
def test_a_prompt_is_answered_with_the_tools_that_the_model_calls(
    nacre: Nacre, model: ScriptedModel, api: str
) -> None:
    model.answers = [["I look.", ("run", {"command": "echo si''x"})], ["It says six."]]
    done = nacre("chat", "-p", "what does it say?", **speaking(model, api))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["I look.", "[Calls run: echo si''x]", "It says six."]
    assert "run" in str(model.requests[0]["tools"])
    assert "[exit 0" in results(model, api)
    assert "six" in results(model, api)


def test_a_prompt_asks_nobody_and_runs_nothing_that_is_not_allowed(
    nacre: Nacre, model: ScriptedModel
) -> None:
    kept = nacre.home / "kept.txt"
    kept.write_text("kept")
    model.answers = [[("run", {"command": f"rm -f {kept}"})], ["I may not."]]
    done = nacre("chat", "-p", "tidy up", **speaking(model))
    assert kept.exists()
    assert "nobody to ask: run: rm -f" in done.stderr
    assert "did not allow this call" in results(model, "anthropic")


def test_without_a_model_slash_commands_work_and_words_say_how_to_set_one(nacre: Nacre) -> None:
    assert "\nrun  " in "\n" + nacre.ok("chat", "-p", "  /tools  ")
    called = nacre("chat", "-p", '/call run {"command": "echo by-hand"}')
    assert (called.returncode, "by-hand" in called.stdout) == (0, True)
    words = nacre("chat", "-p", "hello")
    assert (words.returncode, "chat_model" in words.stderr) == (1, True)
    wrong = nacre("chat", "-p", "/nope")
    assert (wrong.returncode, "/help" in wrong.stderr) == (1, True)
    broken = nacre("chat", "-p", "/call run {")
    assert (broken.returncode, "no JSON" in broken.stderr) == (1, True)


def test_lines_of_a_pipe_are_said_one_after_the_other(nacre: Nacre, model: ScriptedModel) -> None:
    model.answers = [["first"], ["second"]]
    done = nacre("chat", stdin="one\ntwo\n/usage\n", **speaking(model))
    assert done.stdout.splitlines()[:2] == ["first", "second"]
    assert "11 tokens in the chat, 14 answered" in done.stdout
    assert [turn["role"] for turn in model.told("anthropic")] == ["user", "assistant", "user"]


def test_an_endpoint_that_refuses_is_told_and_the_chat_goes_on(
    nacre: Nacre, model: ScriptedModel
) -> None:
    model.refuse = (529, '{"error": {"message": "Overloaded"}}')
    done = nacre("chat", "-p", "hello", **speaking(model))
    assert (done.returncode, "529: Overloaded" in done.stderr) == (1, True)


def test_a_person_is_asked_and_their_answer_counts(
    nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    made = nacre.home / "made-in-chat"
    call = ("run", {"command": f"mkfifo {made} && echo ma''de"})
    model.answers = [[call], ["Made."], [call], ["Not again."]]
    person = attend("chat", env=speaking(model), cols=120)
    prompted(person)
    assert person.text.startswith("model: small\n/help shows the commands, Ctrl+D leaves\n")
    person.type(b"make it\r")
    person.sees("Allow it?")
    person.type(b"y\r")
    person.sees("Made.")
    prompted(person)
    assert made.exists()
    person.type(b"again\r")
    person.see(lambda: person.text.count("Allow it?") == 2)
    person.type(b"n\r")
    person.sees("Not again.")
    prompted(person)
    assert "did not allow this call" in results(model, "anthropic")
    person.type(b"\x04")
    assert person.leaves() == 0


def test_a_pattern_for_this_chat_asks_no_more(
    nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    calls: list[Any] = [("run", {"command": f"mkfifo {nacre.home}/fifo{n}"}) for n in range(2)]
    model.answers = [[calls[0]], ["One."], [calls[1]], ["Two."]]
    person = attend("chat", env=speaking(model), cols=120)
    prompted(person)
    person.type(b"make one\r")
    person.sees("Allow it?")
    person.type(b"p\r")
    person.sees("Pattern: run: mkfifo *")
    person.type(b"\r")
    person.sees("One.")
    prompted(person)
    person.type(b"make two\r")
    person.sees("Two.")
    prompted(person)
    person.type(b"/patterns list\r")
    person.sees("run: mkfifo *  1 match")
    prompted(person)
    person.type(b"/exit\r")
    assert person.leaves() == 0


def test_what_is_allowed_always_becomes_a_rule(
    own_nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    model.answers = [[("run", {"command": f"mkfifo {own_nacre.home}/a"})], ["Done."]]
    person = attend("chat", env={**own_nacre.env, **speaking(model)}, cols=120)
    prompted(person)
    person.type(b"go\r")
    person.sees("Allow it?")
    person.type(b"P\r")
    person.sees("Pattern:")
    person.type(b"\r")
    person.sees("Done.")
    prompted(person)
    person.type(b"\x04")
    assert person.leaves() == 0
    judged = own_nacre.ok("policy", "check", f"mkfifo {own_nacre.home}/b")
    assert judged.startswith("allow")


def test_ctrl_c_stops_the_answer_and_not_the_chat(
    nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    model.answers = [["Once upon a time"], ["Yes."]]
    model.hold = threading.Event()
    person = attend("chat", env=speaking(model))
    prompted(person)
    person.type(b"tell me a story\r")
    person.sees("Once upon a time")
    person.type(b"\x03")
    person.sees("[stopped]")
    prompted(person)
    model.hold.set()
    person.type(b"are you there?\r")
    person.sees("Yes.")
    prompted(person)
    told = model.told("anthropic")
    assert [turn["role"] for turn in told] == ["user", "assistant", "user"]
    person.type(b"\x04")
    assert person.leaves() == 0


def test_a_chat_can_be_resumed(own_nacre: Nacre, model: ScriptedModel) -> None:
    model.answers = [["Blue."], ["I said blue."]]
    own_nacre("chat", "-p", "which colour?", **speaking(model))
    assert "which colour?" in own_nacre.ok("chat", "--list")
    done = own_nacre("chat", "--resume", "-p", "what did you say?", **speaking(model))
    assert done.stdout == "I said blue.\n"
    assert [turn["role"] for turn in model.told("anthropic")] == ["user", "assistant", "user"]
    wrong = own_nacre("chat", "--resume", "1999", "-p", "x", **speaking(model))
    assert "no chat begins with '1999'" in wrong.stderr
    (chats,) = own_nacre.home.rglob("chats")
    assert {path.stat().st_mode & 0o777 for path in chats.iterdir()} == {0o600}


def test_the_list_of_servers_reads_as_it_is_configured(own_nacre: Nacre) -> None:
    os.makedirs(own_nacre.paths.config, exist_ok=True)
    with open(own_nacre.paths.config_file, "w") as file:
        file.write(
            '[mcp_servers.github]\ncommand = "npx"\nargs = ["-y", "server-github"]\n'
            '[mcp_servers.db]\nurl = "http://127.0.0.1:1/mcp"\nenabled = false\n'
        )
    listed = own_nacre.ok("chat", "-p", "/mcp list")
    assert listed.splitlines() == [
        "github: npx -y server-github (enabled)",
        "db: http://127.0.0.1:1/mcp (disabled)",
    ]
    reloaded = own_nacre.ok("chat", "-p", "/mcp reload")
    assert reloaded.splitlines()[-1] == "Reconnected to MCP servers"


def test_a_chat_in_a_narrow_terminal_takes_what_is_pasted_and_every_ctrl_c(
    nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    pasted = "first line of what is pasted, longer than the terminal\nZeile: äöü 漢字 🙂\n\tthird"
    call = ("run", {"command": f"mkfifo {nacre.home}/never"})
    model.answers = [["Gelesen: 漢字 🙂 " + "lang " * 30], [call], ["I may not."]]
    person = attend("chat", env={**speaking(model), "NO_COLOR": "1"}, rows=12, cols=40)
    prompted(person)
    person.type(b"half a word\x03")  # what was typed is dropped, and nothing else
    prompted(person)
    person.type(b"\x1b[200~" + pasted.encode() + b"\x1b[201~")
    person.sees("third")
    assert not model.requests  # a pasted line's end sends nothing
    person.type(b"\r")
    person.sees("lang lan")  # its beginning may have scrolled off by now
    prompted(person)
    assert model.told("anthropic")[-1]["content"] == pasted
    person.resize(20, 60)
    os.killpg(os.getpgid(person.process.pid), signal.SIGWINCH)
    person.type(b"make it\r")
    person.sees("Allow it?")
    person.type(b"\x03")
    person.sees("I may not.")
    prompted(person)
    assert not (nacre.home / "never").exists()
    person.type(b"\x04")
    assert person.leaves() == 0


def test_a_chat_that_was_killed_is_resumed_with_what_was_said(
    own_nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    model.answers = [["Blue."], ["Once upon"], ["It was blue."]]
    person = attend("chat", env={**own_nacre.env, **speaking(model)})
    prompted(person)
    person.type(b"which colour?\r")
    person.sees("Blue.")
    prompted(person)
    model.hold = threading.Event()
    person.type(b"tell me a story\r")
    person.sees("Once upon")
    person.process.kill()
    person.process.wait()
    model.hold.set()
    # What is said comes from a pipe; an answer that never came is none.
    done = own_nacre("chat", "--resume", "-p", "-", stdin="and\nnow?", **speaking(model))
    assert (done.returncode, done.stdout) == (0, "It was blue.\n")
    told = model.told("anthropic")
    assert [turn["role"] for turn in told] == ["user", "assistant", "user"]
    assert "tell me a story" in str(told[-1])
    assert "and\\nnow?" in str(told[-1])
    nothing = own_nacre("chat", "-p", "-", stdin=" ", **speaking(model))
    assert (nothing.returncode, "nothing to say" in nothing.stderr) == (1, True)


def test_lines_history_and_completion(
    own_nacre: Nacre, model: ScriptedModel, attend: Attend
) -> None:
    env = {**own_nacre.env, **speaking(model, "openai")}
    model.answers = [["One."], ["Two."], ["Three."], ["Four."]]
    person = attend("chat", env=env)
    prompted(person)
    person.type(b"first\x1b\rsecond\r")  # Alt+Enter
    person.sees("One.")
    prompted(person)
    assert model.told("openai")[-1]["content"] == "first\nsecond"
    person.type(b"third\\\r")
    person.sees("…")
    person.type(b"fourth\r")
    person.sees("Two.")
    prompted(person)
    assert model.told("openai")[-1]["content"] == "third\nfourth"
    for typed, offered, line in ((b"/pat", "patterns", "/patterns"), (b" li", "list", "s list")):
        person.type(typed)
        person.sees(offered)  # below the line
        person.type(b"\t")
        person.sees(line)
    person.type(b"\r")
    person.sees("no patterns in this chat")
    prompted(person)
    person.type(b"\x04")
    assert person.leaves() == 0
    again = attend("chat", env=env)
    prompted(again)
    again.type(b"\x1b[A\x1b[A")  # up, twice: behind the slash command
    again.sees("fourth")
    again.type(b"\r")
    again.sees("Three.")
    prompted(again)
    assert model.told("openai")[-1]["content"] == "fourth"
    again.type(b"\x04")
    assert again.leaves() == 0


@pytest.mark.parametrize("api", ["anthropic", "openai"])
def test_two_chats_at_once_and_a_long_one_that_is_cut_short(
    own_nacre: Nacre, model: ScriptedModel, attend: Attend, api: str
) -> None:
    env = {**own_nacre.env, **speaking(model, api), "NACRE_CHAT_COMPACT_TOKENS": "1000"}
    one, two = attend("chat", env=env), attend("chat", env=env)
    model.answers = [["A."], ["B."], ["C."], ["It was about a."], ["Again."]]
    for person, said, answer in ((one, "alpha " * 800, "A."), (two, "beta", "B.")):
        prompted(person)
        person.type(said.encode() + b"\r")
        person.sees(answer)
        prompted(person)
    assert "alpha" not in str(model.told(api))  # each has its own words
    # The one that is open cannot be resumed elsewhere: each would write over the other.
    first = [row.split()[0] for row in own_nacre.ok("chat", "--list").splitlines() if "alph" in row]
    refused = own_nacre("chat", "--resume", *first, "-p", "x", **speaking(model, api))
    assert (refused.returncode, "goes on in another terminal" in refused.stderr) == (2, True)
    for said, answer in (("gamma", "C."), ("and now?", "Again.")):
        assert "it goes on from a summary" not in one.text  # the last exchange stays as it is
        one.type(said.encode() + b"\r")
        one.sees(answer)
        prompted(one)
    assert "the chat is long: it goes on from a summary" in one.text
    told = str(model.told(api))
    assert [word in told for word in ("It was about a.", "gamma", "and now?")] == [True] * 3
    assert "alpha" not in told
    two.type(b"\x04")
    one.type(b"\x04")
    assert (one.leaves(), two.leaves()) == (0, 0)
    model.answers = [["Still here."]]
    resumed = own_nacre("chat", "--resume", *first, "-p", "hello", **speaking(model, api))
    assert resumed.stdout == "Still here.\n"


def test_a_call_says_what_it_connects_to(own_nacre: Nacre, model: ScriptedModel) -> None:
    os.makedirs(own_nacre.paths.config, exist_ok=True)
    with open(own_nacre.paths.config_file, "w") as file:
        file.write(odd("files"))
    call = ("mcp_files_echo", {"text": "hi"})
    own_nacre.ok("upstream", "tools", "files")
    own_nacre.ok("upstream", "reload")
    model.answers = [[call], ["No."]]
    env = speaking(model)
    lines = '/patterns add mcp_files_*\n/call mcp_files_echo {"text": "ho"}\nsay it\n'
    done = own_nacre("chat", stdin=lines, **env)
    assert done.stdout.splitlines() == [
        "[Connects to files]",
        '[Calls mcp_files_echo: {"text": "ho"}]',
        "ho",
        '[Calls mcp_files_echo: {"text": "hi"}]',
        "No.",
    ]
