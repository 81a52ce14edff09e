"""A conversation stays one that the APIs take."""

from nacre.cli.chat.conversation import CUT_OFF, ChatMessage, Conversation, ModelCall


def test_calls_that_were_cut_off_get_an_answer_behind_them() -> None:
    first, second = ModelCall("1", "run", {}), ModelCall("2", "read", {})
    conversation = Conversation()
    conversation.say("go")
    conversation.answer("", [first, second])
    conversation.result(first, "done")
    conversation.mend()
    last = conversation.messages[-2:]
    assert {message.call_id: message.text for message in last} == {"1": "done", "2": CUT_OFF}
    mended = list(conversation.messages)
    conversation.mend()
    assert conversation.messages == mended


def test_a_summary_takes_the_place_of_all_but_the_last_exchange() -> None:
    conversation = Conversation()
    for number in range(5):
        conversation.say(f"question {number}")
        conversation.answer(f"answer {number} " + "x" * 4000)
    before = conversation.size
    conversation.compact("five questions")
    texts = [message.text for message in conversation.messages]
    assert "five questions" in texts[0]
    assert texts[2] == "question 4"
    assert len(texts) == 4
    assert conversation.size < before / 3


def test_taking_an_exchange_back_leaves_what_was_before() -> None:
    conversation = Conversation()
    conversation.say("one")
    conversation.answer("first")
    conversation.say("two")
    conversation.answer("", [ModelCall("1", "run", {})])
    conversation.drop_last_exchange()
    assert conversation.messages == [ChatMessage("user", "one"), ChatMessage("assistant", "first")]
