from godhand_web.qr import square


def test_it_draws_what_a_phone_looks_for_first() -> None:
    """Three squares of seven modules, in all corners but one, with a white edge around everything."""
    drawn = square("http://localhost/s/token/")
    dark = {(x, y) for x, y in cells(drawn.path)}
    far = drawn.side - 2 - 7
    for left, top in ((2, 2), (far, 2), (2, far)):
        assert all((left + step, top) in dark and (left, top + step) in dark for step in range(7))
        assert (left + 1, top + 1) not in dark
    assert not any(x < 2 or y < 2 or x >= drawn.side - 2 or y >= drawn.side - 2 for x, y in dark)


def test_it_draws_other_texts_otherwise() -> None:
    assert square("one").path != square("two").path


def cells(path: str) -> list[tuple[int, int]]:
    found = []
    for run in path.split("z")[:-1]:
        start, _, rest = run[1:].partition("h")
        x, y = map(int, start.split())
        found += [(x + step, y) for step in range(int(rest.partition("v")[0]))]
    return found
