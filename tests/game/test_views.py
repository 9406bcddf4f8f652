"""What each seat is asked and told, in full: a short hand with a pass to the left, and one without."""

from protocol.messages import HandOverNotice, MatchOverNotice, Passed, PassRequest, PlayRequest, Trick
from protocol.rules import Rules, rules_from
from tests.game import plain
from tests.game.driver import Driver, give, hands, header, play

KEPT = ["2C", "3C", "4C", "5C", "2D", "3D", "4D", "5D", "QS", "2H", "3H", "4H"]


def house(**fields: object) -> Rules:
    removed = [card for card in plain.PACK if card not in KEPT]
    return rules_from({"removed": removed, "pass_count": 1, "moon": "off", "max_hands": 2} | fields)


def sat_down(deal: str, **fields: object) -> Driver:
    driver = Driver(header(house(**fields)), lambda hand: hands(deal))
    driver.sit()
    return driver


def asked(driver: Driver, seat: int) -> PassRequest | PlayRequest:
    return driver.match.request(seat, id=9, ms=1500)  # type: ignore[return-value]


def test_a_hand_with_a_pass():
    driver = sat_down("2C 3H QS | 3C 5D 2H | 4C 3D 4D | 5C 2D 4H")
    assert asked(driver, 3) == PassRequest(
        id=9,
        table="1",
        hand=1,
        seat=3,
        dealer=0,
        count=1,
        to=0,
        ms=1500,
        cards=("5C", "2D", "4H"),
        scores=(0, 0, 0, 0),
    )
    assert asked(driver, 1).to == 2
    for seat, cards in enumerate(("2C", "2H", "4D", "4H")):
        driver.put(give(seat, cards))

    # Seat 0 holds QS 3H 4H, seat 1 2C 3C 5D, seat 2 4C 3D 2H, seat 3 5C 2D 4D.
    for seat, card in ((1, "2C"), (2, "4C"), (3, "5C")):
        driver.put(play(seat, card))
    assert asked(driver, 0) == PlayRequest(
        id=9,
        table="1",
        hand=1,
        seat=0,
        dealer=0,
        hearts_broken=False,
        lead=1,
        ms=1500,
        cards=("QS", "3H", "4H"),
        legal=("QS", "3H", "4H"),
        trick=("2C", "4C", "5C"),
        taken=(0, 0, 0, 0),
        scores=(0, 0, 0, 0),
        tricks=(),
        passed=Passed(to=1, gave=("2C",), from_=3, got=("4H",)),
    )
    driver.put(play(0, "QS"))
    first = Trick(lead=1, cards=("2C", "4C", "5C", "QS"), winner=3)
    assert asked(driver, 3) == PlayRequest(
        id=9,
        table="1",
        hand=1,
        seat=3,
        dealer=0,
        hearts_broken=False,
        lead=3,
        ms=1500,
        cards=("2D", "4D"),
        legal=("2D", "4D"),
        trick=(),
        taken=(0, 0, 0, 13),
        scores=(0, 0, 0, 0),
        tricks=(first,),
        passed=Passed(to=0, gave=("4H",), from_=2, got=("4D",)),
    )
    driver.put(play(3, "2D"))
    driver.put(play(0, "3H"))
    assert asked(driver, 1).hearts_broken
    assert asked(driver, 1).trick == ("2D", "3H")
    driver.put(play(1, "5D"))
    driver.put(play(2, "3D"))
    second = Trick(lead=3, cards=("2D", "3H", "5D", "3D"), winner=1)
    assert (asked(driver, 1).taken, asked(driver, 1).tricks) == ((0, 1, 0, 13), (first, second))
    for seat, card in ((1, "3C"), (2, "2H"), (3, "4D"), (0, "4H")):
        driver.put(play(seat, card))
    third = Trick(lead=1, cards=("3C", "2H", "4D", "4H"), winner=1)
    over = HandOverNotice(
        table="1",
        hand=1,
        moon=None,
        points=(0, 3, 0, 13),
        scores=(0, 3, 0, 13),
        tricks=(first, second, third),
    )
    assert all(driver.told(seat) == [over] for seat in range(4))

    request = asked(driver, 2)
    assert (request.hand, request.dealer, request.to, request.scores) == (2, 1, 1, (0, 3, 0, 13))


def test_a_hand_without_a_pass():
    """On a hold hand nobody is told of a pass; a moon is told by its seat, and the end to all alike."""
    driver = sat_down(
        "2C 5D 2H | 3C 4D QS | 4C 3D 3H | 5C 2D 4H", pass_cycle=["hold"], moon="add", max_hands=1
    )
    assert asked(driver, 0).passed is None
    cards = ["2C", "3C", "4C", "5C", "2D", "5D", "4D", "3D", "2H", "QS", "3H", "4H"]
    for card in cards:
        seat = driver.asked[0]
        assert asked(driver, seat).passed is None
        driver.put(play(seat, card))
    over, end = driver.told(1)
    assert (over.points, over.moon) == ((16, 16, 16, 0), 3)
    assert end == MatchOverNotice(
        table="1", reason="max_hands", ranks=(2, 2, 2, 1), scores=(16, 16, 16, 0), retired=()
    )
    assert all(driver.told(seat) == [over, end] for seat in range(4))


def test_the_second_hand_starts_clean():
    driver = sat_down("2C 5D 2H | 3C 4D QS | 4C 3D 3H | 5C 2D 4H", pass_cycle=["left", "hold"])
    for seat, card in enumerate(("2H", "QS", "3H", "4H")):
        driver.put(give(seat, card))
    while driver.match.hand_number == 1:
        seat = driver.asked[0]
        assert asked(driver, seat).passed is not None
        driver.put(play(seat, asked(driver, seat).legal[0]))
    request = asked(driver, 0)
    assert (request.hand, request.dealer, request.passed) == (2, 1, None)
    assert (request.trick, request.tricks, request.taken) == ((), (), (0, 0, 0, 0))
    assert sum(request.scores) == 16
    assert not request.hearts_broken
