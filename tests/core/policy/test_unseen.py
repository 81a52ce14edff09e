"""Lines that were written and labelled before they were judged for the first time.

A sign for a newline (␤) stands in them. Each round was judged before the rules were mended, and is
kept here, so that what was learned by it stays.
"""

from pathlib import Path

from nacre.core.policy.decide import decide
from nacre.system.policy_files import EXAMPLE, load_policy

GUARDED = load_policy("guarded")
OPEN = load_policy("open")

# They run a program or a script that nobody knows, write where others may, or are fed by a file.
ASKED = {
    "git worktree add ../proj-hotfix hotfix",
    "uv run --with httpx python -V",
    "java -cp out com.acme.Main --help",
    "valgrind --leak-check=full ./build/test_parser",
    "time ./build/bench --iterations 10",
    "hyperfine --warmup 3 './build/app input.txt'",
    "gdb -batch -ex bt ./build/app core",
    "python -m venv /tmp/venv && /tmp/venv/bin/python --version",
    "sort -u names.txt -o /dev/stdout",
    "git stash branch --help",
    "cp ../shared/.eslintrc.json . 2>/dev/null || true",
    "ln -s ../.env .env.local",
    'count() { find "$1" -type f | wc -l; }; count src',
    "openssl s_client -help 2>&1 | head -3",
    'python3 -c "import sympy; print(sympy.factorint(360))"',
    'curl -s -X POST localhost:8080/login -d \'{"u":"a","p":"b"}\''
    " -H 'Content-Type: application/json' -c /tmp/jar",
    'while read -r u; do curl -s -o /dev/null -w "%{http_code} $u\\n"'
    ' "http://localhost:8000$u"; done < paths.txt',
    "x=$(cat version.txt); y=$((x + 1)); echo $y",
    "ls | xargs -I {} sh -c 'echo {}'",
    "cat list | parallel echo",
    "cmake ..",
    'for f in *.png; do convert "$f" "${f%.png}.jpg"; done',
    'out=$(mktemp); ls > "$out"; cat "$out"',
    "xargs -a list.txt -I{} cp {} backup/",
    "python -m timeit -s 'x = list(range(100))' 'sum(x)'",
    "python -m cProfile --help",
    "psql \"$DATABASE_URL\" -c '\\dt'",
    "ln -s ../shared shared",
    "cat requirements.txt | xargs -n1 pip show 2>/dev/null | grep -E '^(Name|Version)'",
    "git remote add upstream https://github.com/org/repo.git",
    "gh pr view --web=false --json number,url -q .url",
    "npx json2ts -i schema.json",
    "yarn dlx --help",
    "deno run --check main.ts --help",
    "safety check",
    "file *",
    "pip install --upgrade --pre torch",
    "mkdir -p .github/workflows && cat > .github/workflows/ci.yml <<'EOF'\nname: ci\non: push\nEOF",
    "psql \"$DATABASE_URL\" -At -c 'select version()'",
    "python scripts/gen.py --check",
    "node scripts/build.mjs",
    "npx prisma db pull --print",
    "npx api-extractor run --local",
    "npx husky",
    'pnpm run "/^build:.*/"',
    "pytest --log-level=DEBUG --log-format='%(message)s' -o log_cli=true",
    "uv run --extra test --with-editable . pytest",
    "uv run -m pytest -q",
    "uv run python -m app --help",
    "poetry env use 3.12",
    "python -m pip install -e '.[test,docs]' --config-settings editable_mode=compat",
    "python -m cProfile -s cumtime -m pytest tests/a.py",
    "make release-dry-run",
    "make -f build/Makefile.linux all",
    "cmake --install build --prefix ./out",
    "ctest --preset ci --rerun-failed --timeout 60 -j 4 -V",
    "bundle exec rspec --tag ~slow --order rand:123 --next-failure",
    "dart run build_runner build --delete-conflicting-outputs",
    "git worktree add ../proj-fix -b fix",
    "time python bench.py",
    "ansible-playbook site.yml --check --diff",
    "git worktree add ../feature-x feature/x",
    "hyperfine -w 3 -r 10 './build/app --bench'",
    "time ./build/tests/unit --gtest_filter='Parser.*'",
    "valgrind -q --leak-check=full ./build/test",
    "yarn dlx -q tsc --version",
    "yarn upgrade-interactive --help",
    "xargs -I{} -P4 curl -s -o /dev/null http://localhost:8000/{} < paths.txt",
    "uv run --with rich python -V",
    "python -m sphinx -b linkcheck docs /tmp/link",
    "sphinx-build -b doctest docs /tmp/doctest",
    "sar -u 1 1",
    "ltrace -c true",
    "hyperfine --warmup 2 'rg foo' --show-output",
    "git fetch origin --tags --force --dry-run",
    "git submodule foreach --help",
    "just build release=false",
    "ls | parallel --version",
    "declare -p PATH",
    "pytest --basetemp=/tmp/pt tests",
    "ctest --preset dev -L unit",
}


def lines_of(name: str) -> list[str]:
    text = (Path(__file__).parent / name).read_text()
    return [line.replace("␤", "\n") for line in text.splitlines()]


def test_harmless_lines_run_unasked() -> None:
    lines = lines_of("unseen_harmless.txt")
    assert len(lines) > 5500
    assert {line for line in lines if decide(line, GUARDED, EXAMPLE).verdict != "allow"} == ASKED
    assert len(ASKED) / len(lines) < 0.02


def test_no_harmful_line_runs_unasked() -> None:
    lines = lines_of("unseen_harmful.txt")
    assert len(lines) > 8000
    assert [line for line in lines if decide(line, GUARDED, EXAMPLE).verdict == "allow"] == []


def test_open_runs_all_harmless_lines() -> None:
    lines = lines_of("unseen_harmless.txt")
    assert [line for line in lines if decide(line, OPEN, EXAMPLE).verdict != "allow"] == []
