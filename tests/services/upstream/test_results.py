"""Results that do not fit an answer."""

from nacre.core.operations.upstream import ReadUpstreamResult
from nacre.core.text.redaction import Redaction, SecretValues, redacting
from nacre.services.upstream.results import LongResults

SECRET = "correct-horse-battery-9981"


def test_no_part_of_a_result_shows_a_part_of_a_secret() -> None:
    redaction = Redaction(SecretValues({SECRET: "{{secret:DB}}"}))
    results = LongResults(100_000)
    shown: list[str] = []
    with redacting(redaction):
        for before in range(90, 130):
            text = "x" * before + SECRET + "y" * 2000
            answer = results.fit(
                {"content": [{"type": "text", "text": text}]}, 300, has_schema=False
            )
            assert answer.result_id is not None
            shown.append(answer.content[0]["text"])
            for offset in range(before - 20, before + 30):
                asked = ReadUpstreamResult(result_id=answer.result_id, offset=offset)
                shown.append(results.read(asked, 12).text)
    told = "|".join(shown)
    assert not any(SECRET[at : at + 5] in told for at in range(len(SECRET) - 5))
    assert redaction.count
