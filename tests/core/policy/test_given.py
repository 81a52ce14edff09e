import re

import pytest

from nacre.core.policy.decide import decide
from nacre.core.policy.rules import Rule
from nacre.system.policy_files import EXAMPLE, load_policy, shipped

GUARDED = load_policy("guarded")
# What they allow is read word by word by a test of their own; behind WRAPPERS stands a program.
OWN = {
    *("sed", "awk", "tar", "test", "printf", "grep", "version", "far", "perl reads", "perl edits"),
    *("python prints", "node prints", "ruby prints", "php prints", "julia packages", "mongo reads"),
    *("elixir prints", "r prints"),
}
WRAPPERS = {"xargs", "valgrind", "bear"}
CONTAINERS = {
    *("docker|podman exec", "docker|podman compose exec|run", "docker-compose exec|run"),
}
ITEM = re.compile(
    r"-[a-zA-Z0-9@#]+|-[a-zA-Z0-9](?:[=?><#:;%]|=[A-Za-z,:]+)|(?:--|\+-)[^\s=]\S*|--|\||\*"
)


def judge(line: str) -> str:
    return decide(line, GUARDED, EXAMPLE).verdict


def knows_its_options(rule: Rule) -> bool:
    first = rule.pattern[0] if isinstance(rule.pattern[0], str) else rule.pattern[0][0]
    listed = rule.options or rule.only or rule.most is not None or rule.names
    return bool(listed) or rule.check in OWN or first in WRAPPERS or rule.title in CONTAINERS


@pytest.mark.parametrize("name", ["guarded", "tools"])
def test_every_rule_that_allows_says_which_options(name: str) -> None:
    rules = [rule for rule in shipped(name).rule if rule.verdict == "allow" and rule.pattern]
    assert len(rules) > 100
    assert [rule.title for rule in rules if not knows_its_options(rule)] == []


def test_every_line_of_the_table_can_be_read() -> None:
    lines = shipped("options").options
    bad = [(name, one) for name, line in lines.items() for one in line.split()]
    assert [(name, one) for name, one in bad if not ITEM.fullmatch(one)] == []


@pytest.mark.parametrize(
    "line",
    [
        "git log -n 5 -p",
        "mypy --html-report /tmp/mypy src",
        "mvn dependency:tree -DoutputFile=/tmp/tree.txt",
        "sort <(ls a) <(ls b)",
        "goreleaser build --snapshot --clean",
        "npx prettier --check .github/workflows/ci.yml",
        "mkdir -p .github/workflows",
        "pnpm build:types",
        "pytest -nauto --co",
        "pytest -W ignore::DeprecationWarning",
        "isort -c src",
        "coverage run --branch -m pytest",
        "npm test < /dev/null > test.log",
        "fd -e md -x wc -w",
        "pre-commit run --show-diff-on-failure",
        '[ "$(node -v)" = v20 ] && echo ok',
        "git log -n5",
        "git log -np",  # the value of -n is p
        "make -kj4",
        "make -j$(nproc)",
        "eslint -c eslint.config.js src",
        "mvn -DskipTests -q test",
        "go test -ldflags '-s -w' ./...",
        "cargo test -- --nocapture -q x",
        "go run . -x --delete",
        "find . -name x -exec grep -l foo {} +",
        "npx jest -t name -i",
        "python3 -m pytest -rfEs -k x",
        "uv run coverage run -m pytest -q",
        "docker ps -f name=x",
        "kubectl logs -f app",
        "cargo +nightly check -q",
    ],
)
def test_options_that_are_known_run(line: str) -> None:
    assert judge(line) == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "git log -Zp",
        "git log -pZ",
        "make -kf x.mk",
        "make -n -$x",
        "eslint -c /tmp/x.js src",
        "eslint -c ../x.js src",
        "eslint -r ./x src",
        "eslint -o .git/hooks/pre-commit src",
        "eslint -o.git/hooks/pre-commit src",
        "mvn -Dexec.executable=x test",
        "mvn -D exec.executable=x test",
        "go test -toolexec x ./...",
        "go test -coverprofile=.git/hooks/x ./...",
        "go test -coverprofile .git/hooks/x ./...",
        "npx jest -t -c /tmp/x.js",
        "find . -newthing x",
        "find . -exec ls {} + -delete",
        "jobs -x rm x",
        "cowsay -f ./x.cow hi",
        "docker build -f /tmp/Dockerfile .",
        "pytest --junitxml=.git/hooks/pre-commit",
        "gotestsum -- -exec rm ./...",
        "python -m pytest -p x",
        "nohuptool -x",
        "dotnet build -p:PostBuildEvent=x",
        "gcc -Wl,-rpath,x,-o,.git/hooks/pre-commit a.c",
        "clang -fuse-ld=/tmp/ld a.c",
        "bazel build --profile=~/.bashrc //x",
        "python -m unittest discover -s /tmp/x",
        "exiftool -TagsFromFile a.jpg b.jpg",
        "gunicorn -p .git/hooks/pre-commit app:app",
        "flask -A /tmp/x.py run",
        "pytest --debug=.git/hooks/pre-commit",
        "ruff check --config 'extend=\"/tmp/x.toml\"' .",
        "git merge -s evil x",
        "cargo clippy -- -C linker=x",
        "terraform plan -var-file=https://example.org/x",
        "gzip -r src",
        "docker build --cache-to=type=registry,ref=x .",
        "eslint --parser-options=project:/tmp/x src",
        "mvn --load x test",
        "prettier --run x",
        "pnpm ls --exec x",
        "yarn info --plugin x",
        "vale sync",
        "conftest pull x",
        "nix eval --expr x",
        "npx prettier --write .github/workflows/ci.yml",
        "npx prettier -w .vscode/tasks.json",
        "git mv ci.yml .github/workflows/ci.yml",
        "git worktree add .git/hooks/x main",
        "unzip ci.zip -d .github/workflows",
        "git fetch origin --refmap='+refs/heads/*:refs/heads/*'",
        "yarn workspace api run migrate:down",
        "pnpm db:reset",
        "ffmpeg -i a.mp4 -vf 'drawtext=textfile=/etc/passwd' b.mp4",
        "exiftool '-FileName<x' a.jpg",
        "valgrind --tool=/tmp/x ls",
        "sd foo bar .git/config",
        "fx package.json 'process.exit()'",
        "pg_dump -h evil.example app",
        "psql service=x -c 'select 1'",
        "pytest --cov-report=html:.git/hooks",
        "pylint -f x,json:.git/hooks/x src",
        "python -m json.tool a.json .git/hooks/pre-commit",
        "python -m unittest /tmp/x/test_x.py",
        "sphinx-build -M html docs .git/hooks",
        "gunicorn -b0.0.0.0 app:app",
        "python manage.py runserver 192.168.1.5:80",
        "uv pip install --system x",
        "black - < /dev/null > src/app.py",
        "fd -xrm",
        "fd --exec-batch=rm",
        "npx rollup --watch.onEnd='x' -c",
        "npx tsup --onSuccess x",
        "npx ng add x",
        "yarn workspace web add x@https://example.org/x",
        "meson setup build --cross-file=/tmp/c.ini",
        "meson setup build -Dc_args='-wrapper sh,-c,id'",
        "mvn -Dmaven.repo.local=/tmp/repo package",
        "go build -gcflags='-linkobj /home/you/x' ./...",
        "bazel build --symlink_prefix=/home/you/.config/ //x",
    ],
)
def test_options_that_are_not_known_ask(line: str) -> None:
    assert judge(line) == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "cat .env",
        "cat .env*",
        "cat < .env.local",
        "git show HEAD:.env",
        "find . -name .env -exec cat {} +",
        "python3 -c 'print(open(\".env\").read())'",
        "head -3 config/credentials.json",
        "base64 server.key",
        "cat /run/secrets/db",
        "tail ~/.bash_history",
    ],
)
def test_files_with_keys_are_not_shown_unasked(line: str) -> None:
    assert judge(line) == "ask"


@pytest.mark.parametrize(
    "line",
    ["cat .env.example", "cp .env.example .env", "grep -c = .env", "ls -a | grep .env"],
)
def test_files_that_name_keys_may_be_used(line: str) -> None:
    assert judge(line) == "allow"


@pytest.mark.parametrize(
    "line",
    ["cd /tmp/x && make", "docker build /tmp/x", "git am < x && make", "patch -p1 < x && npm test"],
)
def test_what_nobody_has_seen_is_not_built_unasked(line: str) -> None:
    assert judge(line) == "ask"
