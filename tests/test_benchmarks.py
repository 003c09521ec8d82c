"""What the benchmarks write down, whatever they measured."""

import tokens


def test_methods_are_held_to_the_goals_of_the_data_that_are_there() -> None:
    assert tokens._row("mgranrag", {"tokens": {"2wiki": 2000, "own": 4000}})[1:] == (
        "3,000 (2wiki 2,000, own 4,000)",
        "at most 2,600 on 2wiki: met",
    )
    assert tokens._row("mgranrag", {"tokens": {"own": 4000}}) == ("mgranrag", "4,000 (own 4,000)", "")
    assert tokens._row("par_rag", {"tokens": {"own": 6000}})[2] == "at most 5,040: missed"
    assert tokens._row("cirag", {"tokens": {"2wiki": 1}})[2] == ""
