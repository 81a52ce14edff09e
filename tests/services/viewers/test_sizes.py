"""Who has borrowed a session's size, and what it is when they are gone."""

from nacre.services.viewers.sizes import BorrowedSizes

OWN, SMALL, LARGE = (24, 80), (20, 44), (50, 200)


def test_who_borrowed_gives_back_what_it_was() -> None:
    sizes = BorrowedSizes()
    sizes.borrow("anna", OWN, SMALL)
    sizes.borrow("anna", SMALL, LARGE)
    assert sizes.give_back("anna") == OWN
    assert sizes.give_back("anna") is None
    assert sizes.kept() is None


def test_who_borrowed_last_decides() -> None:
    sizes = BorrowedSizes()
    sizes.borrow("anna", OWN, SMALL)
    sizes.borrow("bert", SMALL, LARGE)
    assert sizes.give_back("bert") == SMALL
    sizes.borrow("bert", SMALL, LARGE)
    assert sizes.give_back("anna") is None
    assert sizes.give_back("bert") == OWN


def test_a_size_that_somebody_means_is_not_given_back() -> None:
    sizes = BorrowedSizes()
    sizes.borrow("anna", OWN, SMALL)
    sizes.settle()
    assert sizes.give_back("anna") is None
    sizes.borrow("anna", LARGE, SMALL)
    assert sizes.give_back("anna") == LARGE


def test_one_stays_with_any_of_their_screens() -> None:
    sizes = BorrowedSizes()
    sizes.stay("anna")
    sizes.stay("anna")
    sizes.leave("anna")
    assert sizes.stays("anna")
    sizes.leave("anna")
    assert not sizes.stays("anna")


def test_the_next_daemon_knows_it() -> None:
    sizes, after = BorrowedSizes(), BorrowedSizes()
    sizes.borrow("anna", OWN, SMALL)
    sizes.borrow("bert", SMALL, LARGE)
    kept = sizes.kept()
    assert kept is not None
    after.restore(kept)
    assert after.borrowers == ["anna", "bert"]
    assert after.give_back("bert") == SMALL
    assert after.give_back("anna") == OWN
