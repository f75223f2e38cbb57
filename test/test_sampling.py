"""Cases that are left to `.ci/run combinations` show nothing that others do not."""

from itertools import combinations, product

import pytest

from .sampling import ONE_IN, left_out


def cases(*sizes, skipped=()):
    """All combinations of parameters a, b, .. that have so many values each."""
    every = product(*map(range, sizes))
    return [(f"test[{one}]", dict(zip("abcd", one, strict=False))) for one in every if one not in skipped]  # fmt: skip


def shown(cases, together):
    return {pair for _, values in cases for pair in combinations(values.items(), together)}


@pytest.mark.parametrize(
    ("sizes", "together"),
    [((12,), 0), ((4, 3), 1), ((2, 9), 1), ((3, 4, 2), 2), ((2, 2, 2, 3), 2), ((5, 1, 4), 1)],
)
def test_all_is_shown_and_not_all_runs(sizes, together):
    every = cases(*sizes)
    dropped = left_out(every)
    kept = [one for one in every if one[0] not in dropped]
    assert len(every) / ONE_IN <= len(kept) < len(every)
    assert shown(kept, together) == shown(every, together)


def test_what_others_show_need_not_be_shown_again():
    """All values of `a` but 2, which the cases of this test that run by default leave out."""
    every = cases(3, 5)
    others = [one for one in every if one[1]["a"] != 2]
    thorough = [one for one in every if one[1]["a"] == 2]
    dropped = left_out(thorough, others)
    assert len(thorough) - len(dropped) == 2  # one shows the value; there is one in four at least


def test_what_each_case_has_of_its_own_is_no_reason_to_run_it():
    """Such as a text, beside which stands one of two results."""
    every = [(f"test[{i}]", {"text": f"text {i}", "is_right": i % 4 == 0}) for i in range(12)]
    dropped = left_out(every)
    kept = [values["is_right"] for name, values in every if name not in dropped]
    assert len(kept) == 12 / ONE_IN and {*kept} == {True, False}


def test_the_choice_follows_names_not_places():
    every = cases(4, 4)
    assert left_out(every) == left_out(every[::-1])
