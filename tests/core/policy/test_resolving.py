import pytest

from nacre.core.policy.resolving import resolve_line


def programs(line: str) -> list[str]:
    return [program.name for program in resolve_line(line).programs]


@pytest.mark.parametrize(
    "wrapper",
    [
        *(
            "env",
            "env -i",
            "env A=1 B=2",
            "env -u A",
            "env --unset=A",
            "nohup",
            "setsid -w",
        ),
        *(
            "nice",
            "nice -n 5",
            "nice -n5",
            "nice --adjustment=5",
            "timeout 5",
            "timeout -k 1 -s INT 5",
        ),
        *("timeout --signal=INT 5s", "stdbuf -o0 -eL", "time", "time -p", "command", "command -p"),
        *(
            "builtin",
            "exec",
            "exec -a x",
            "sudo",
            "sudo -u root -E",
            "sudo A=1",
            "xargs",
            "busybox",
        ),
        *(
            "xargs -0 -n 1 -P4",
            "xargs -I{}",
            "xargs -a list -d ,",
            "xargs --max-args=1",
            "chroot /x",
        ),
        *(
            "find . -exec",
            "find . -name x -execdir",
            "find . -ok",
            "flock lock",
            "ionice -c 3",
            "doas",
        ),
        *("taskset 1", "nice nohup env timeout 5", "watch -n 1", "chronic", "unbuffer"),
    ],
)
def test_a_wrapper_shows_what_it_runs(wrapper: str) -> None:
    end = r" {} \;" if "find" in wrapper else ""
    resolved = resolve_line(f"{wrapper} target x{end}")
    assert "target" in [program.name for program in resolved.programs]
    assert resolved.doubts == []


@pytest.mark.parametrize(
    "line",
    [
        *(
            "sh -c 'target x'",
            'bash -lc "a; target"',
            "bash -eo pipefail -c 'target'",
            "zsh -c target",
        ),
        *("eval target x", "eval 'a; target'", "trap 'target' EXIT", "script -qc 'target' f"),
        *(
            "flock f -c 'target'",
            "watch 'a | target'",
            "env sh -c 'nice target'",
            "su -c 'target' x",
        ),
        *("sh -c \"sh -c 'target'\"", "find . -exec sh -c 'target' \\;", "bash <<< 'target'"),
        *("sh <<E\ntarget\nE\n", "echo $(eval target)"),
    ],
)
def test_a_line_within_a_line_is_read(line: str) -> None:
    assert "target" in programs(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "$x a",
            "`a` b",
            '"$x"',
            "a* b",
            "env -S 'a b'",
            "env --split-string=a",
            "sudo --unknown a",
        ),
        *(
            "nice --what a",
            "xargs --what a",
            "sh script",
            "sh",
            "bash -s",
            "source x",
            ". x",
            "eval $x",
        ),
        *(
            'sh -c "$x"',
            "watch $x",
            "xargs -I{} {}",
            "find . -exec {} \\;",
            "env $x a",
            "timeout $x a",
        ),
        *("rём x", "command -x a", "bash --rcfile x -i"),
    ],
)
def test_what_is_known_only_when_it_runs_is_a_doubt(line: str) -> None:
    assert resolve_line(line).doubts


@pytest.mark.parametrize(
    "line", ["command -v a", "env", "xargs", "bash --version", "trap - INT", "trap '' INT", "exec"]
)
def test_a_wrapper_may_run_nothing(line: str) -> None:
    resolved = resolve_line(line)
    assert len(resolved.programs) == 1
    assert resolved.doubts == []


def test_the_way_to_a_program_is_kept() -> None:
    found = resolve_line("sudo env A=1 sh -c 'nice rm x'").programs[-1]
    assert found.name == "rm"
    assert found.via == ("sudo", "env", "sh", "nice")


def test_lines_within_lines_have_an_end() -> None:
    line = "rm x"
    for _ in range(12):
        line = f"eval '{line}'" if "'" not in line else 'eval "' + line.replace('"', '\\"') + '"'
    assert resolve_line(line).doubts
