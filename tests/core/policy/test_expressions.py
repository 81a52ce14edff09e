"""Code of four languages that only computes, and what it must not be able to reach."""

import pytest

from nacre.core.policy.decide import decide
from nacre.system.policy_files import EXAMPLE, load_policy

GUARDED = load_policy("guarded")


@pytest.mark.parametrize(
    "line",
    [
        "ruby -e 'puts [3,1,2].sort.inspect'",
        "ruby -e 'puts (1..20).reduce(:*)'",
        "ruby -e 'p [1, 2].map { |x| x * 2 }.sum'",
        "php -r 'echo json_encode([1, 2]), PHP_EOL;'",
        "elixir -e 'IO.inspect(Enum.sum(1..100))'",
        "Rscript -e 'cat(mean(c(2, 4, 9)), \"\\n\")'",
        "Rscript -e 'packageVersion(\"dplyr\")'",
    ],
)
def test_what_only_computes_runs(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "ruby -e 'puts `id`'",
        "ruby -e 'puts %x(id)'",
        "ruby -e 'puts \"#{exec %q(id)}\"'",
        "ruby -e 'p [\"id\"].map(&:system)'",
        "ruby -e 'p [\"id\"].map(&method(:system))'",
        "ruby -e 'p 1.send(:system, \"id\")'",
        "ruby -e 'p [1].reduce(:exit)'",
        "ruby -e 'p.system(\"id\")'",
        "ruby -e 'puts File.read(\"x\")'",
        "ruby -e 'open(\"|id\")'",
        'php -r \'$f = "sys" . "tem"; $f("id");\'',
        'php -r \'array_map("system", ["id"]);\'',
        "php -r 'echo `id`;'",
        "elixir -e ':os.cmd(~c\"id\")'",
        "elixir -e 'apply(System, :cmd, [\"id\", []])'",
        'Rscript -e \'sapply("id", "system")\'',
        'Rscript -e \'do.call("system", list("id"))\'',
        "Rscript -e 'x$system(\"id\")'",
        "ruby -r ./x -e 'puts 1'",
    ],
)
def test_what_may_reach_more_asks(line: str) -> None:
    assert decide(line, GUARDED, EXAMPLE).verdict == "ask"
