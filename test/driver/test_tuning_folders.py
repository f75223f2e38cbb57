"""nnc tune: folders of schedules over machines, versions and hands; merged, pruned, exported."""

import errno
import json
import os
from dataclasses import replace

import nnc
import pytest
from nnc.driver.compile import mark_entry, run_stages
from nnc.driver.program import make_program
from nnc.driver.tuning.folders import export, imported, merge, prune
from nnc.driver.tuning.keeping import Keeper, Origin
from nnc.driver.tuning.measurements import Log
from nnc.driver.tuning.ratio import Ratio
from nnc.driver.tuning.tune import tune_model
from nnc.ir.diagnostics import NncError
from nnc.ir.version import VERSION
from nnc.kernels.policy.variants import Variants
from nnc.kernels.tuned import TunedFolder, TunedSchedule, kernel_functions, schedule_digest
from nnc.targets.attribute import target_of

from .test_tuning import PRODUCT, code, inputs_of, made_up, product, scheduled
from .test_tuning_measurements import ONE


def edit(path):
    """What a person does in an editor: a comment, which changes nothing of the schedule."""
    path.write_text(path.read_text().replace("  schedule.for", "  // tried\n  schedule.for"))


def only(folder):
    (one,) = TunedFolder(folder).read().values()
    return one


# -- what was edited by hand -----------------------------------------------------------------------


def test_an_edited_file_is_known_as_such(tmp_path):
    path = scheduled().write(tmp_path)
    assert not only(tmp_path).edited
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # as some checkouts have it
    assert not only(tmp_path).edited
    edit(path)
    assert only(tmp_path).edited


@pytest.mark.parametrize("change", ["first line", "gain", "schedule"])
def test_each_change_counts(tmp_path, change):
    path = scheduled().write(tmp_path)
    text = path.read_text()
    made = {
        "first line": text.partition("\n")[2],
        "gain": text.replace("gain = 1.", "gain = 2."),
        "schedule": text.replace("    schedule.accumulate", "    // schedule.accumulate"),
    }[change]
    assert made != text
    path.write_text(made)
    assert only(tmp_path).edited


def test_what_was_edited_stays_and_what_is_faster_is_beside_it(monkeypatch, tmp_path):
    path = scheduled(3).write(tmp_path)
    edit(path)
    before, said = path.read_bytes(), []
    made_up(monkeypatch, [1.1, 0.8, 0.7, 0.75])
    found = tune_model(product(), inputs_of, tmp_path, trials=3, say=said.append)
    assert path.read_bytes() == before
    (best,) = found.schedules.values()
    beside = TunedSchedule.read(path.with_name(path.name + ".new"))
    assert schedule_digest(beside.schedule) == schedule_digest(best.schedule)
    assert sum("was edited by hand and stays" in line for line in said) == 1
    assert only(tmp_path).path == path


def test_what_was_edited_and_is_slower_stays_and_that_is_said(monkeypatch, tmp_path):
    path = scheduled(3).write(tmp_path)
    edit(path)
    before, said = path.read_bytes(), []
    made_up(monkeypatch, [1.1])
    tune_model(product(), inputs_of, tmp_path, trials=1, say=said.append)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    assert any("was edited by hand and stays; it is not faster" in line for line in said)


def test_an_edited_schedule_is_used_and_that_is_said(tmp_path):
    edit(scheduled().write(tmp_path))
    said = []
    assert code(TunedFolder(tmp_path), said) != code()
    assert any("1 schedules are edited by hand since they were measured" in line for line in said)


def test_a_file_that_was_renamed_is_written_in_its_place(tmp_path):
    one = scheduled()
    one.write(tmp_path).rename(tmp_path / "product.mlir")
    Keeper(tmp_path).store(replace(one, gain=0.2))
    assert [path.name for path in tmp_path.iterdir()] == ["product.mlir"]
    assert only(tmp_path).gain == 0.2


def test_what_a_person_removes_meanwhile_is_no_fault(tmp_path):
    one = scheduled()
    path = one.write(tmp_path)
    keeper = Keeper(tmp_path)
    path.unlink()
    keeper.finish({}, {one.kernel}, one.machine)
    keeper.store(replace(one, gain=0.2))
    assert only(tmp_path).gain == 0.2


def test_what_cannot_be_removed_is_one_error(monkeypatch, tmp_path):
    one = scheduled()
    one.write(tmp_path)

    def refused(path, missing_ok=False):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("pathlib.Path.unlink", refused)
    with pytest.raises(NncError, match=r"cannot remove .*: Permission denied"):
        Keeper(tmp_path).finish({}, {one.kernel}, one.machine)


# -- tuning again ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found_before(tmp_path_factory):
    """The file that tuning leaves."""
    folder = tmp_path_factory.mktemp("found")
    with pytest.MonkeyPatch.context() as patch:
        made_up(patch, [0.8, 0.8])
        tune_model(product(), inputs_of, folder, trials=1)
    return only(folder)


def test_what_still_holds_is_not_measured_again(monkeypatch, found_before, tmp_path):
    found_before.write(tmp_path)
    given = made_up(monkeypatch, [1.1, 0.8])
    again = tune_model(product(), inputs_of, tmp_path, trials=1)
    (first,) = given[0].values()
    assert schedule_digest(first.schedule) != schedule_digest(found_before.schedule)
    # It is compared once more with all others, and stays.
    (kept,) = again.schedules.values()
    assert schedule_digest(kept.schedule) == schedule_digest(found_before.schedule)


@pytest.mark.parametrize(
    "times, stays", [([0.7, 0.99], True), ([0.7, 1.02], True), ([1.2, 1.3], False)]
)
def test_what_still_holds_stays_unless_it_is_surely_slower(
    monkeypatch, found_before, tmp_path, times, stays
):
    """A disturbed comparison of the whole removes nothing that was found before: it comes back."""
    path = found_before.write(tmp_path)
    before = path.read_bytes()
    first, last = times
    given = made_up(monkeypatch, [first, last, last])
    if stays:  # by medians only: the bounds say that it could be either

        def unsure(pairs):
            median = pairs[0][1] / pairs[0][0]
            return Ratio(median, median - 0.1, median + (0.1 if len(given) > 1 else 0))

        monkeypatch.setattr(Ratio, "of", staticmethod(unsure))
    tune_model(product(), inputs_of, tmp_path, trials=1)
    # What is not sure is compared once more, as the next candidate: what was faster in the search.
    assert len(given) == (3 if stays else 2)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == ([before] if stays else [])


def test_what_no_decisions_make_is_not_called_the_default(monkeypatch, tmp_path):
    replace(scheduled(3), told="by hand").write(tmp_path)
    made_up(monkeypatch, [0.8, 0.8])
    tune_model(product(), inputs_of, tmp_path, trials=1)
    assert only(tmp_path).told == "as it was found"


@pytest.mark.parametrize(
    "change",
    [
        {"default": "another"},
        {"numbers": "another"},
        {"version": "0.0.9"},
        {"threads": 2},
        {"default": "", "numbers": ""},
    ],
    ids=str,
)
def test_what_relies_on_other_numbers_is_measured_again(
    monkeypatch, found_before, tmp_path, change
):
    replace(found_before, **change).write(tmp_path)
    given = made_up(monkeypatch, [1.1])
    tune_model(product(), inputs_of, tmp_path, trials=1)
    (first,) = given[0].values()
    assert schedule_digest(first.schedule) == schedule_digest(found_before.schedule)
    assert list(tmp_path.iterdir()) == []  # the default beats it now


def test_what_the_default_is_now_goes(monkeypatch, tmp_path):
    one = scheduled()
    module, function = kernel()
    default = Variants("k", function.body.blocks[0], target_of(module).machine).default
    replace(one, schedule=default.schedule).write(tmp_path)
    given = made_up(monkeypatch, [1.1])
    tune_model(product(), inputs_of, tmp_path, trials=1)
    (first,) = given[0].values()
    assert schedule_digest(first.schedule) != schedule_digest(default.schedule)
    assert list(tmp_path.iterdir()) == []


def test_what_was_not_measured_again_stays(monkeypatch, tmp_path):
    scheduled(3).write(tmp_path)
    made_up(monkeypatch, [KeyboardInterrupt()])
    tune_model(product(), inputs_of, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def kernel(text=PRODUCT):
    module = nnc.parse(text)
    mark_entry(module)
    run_stages(module, last="bufferize")
    (function,) = [f for f in kernel_functions(module) if "nn.kernel" in f.attributes]
    return module, function


def test_an_origin_holds_for_what_it_wrote_only(found_before):
    module, _ = kernel()
    origin = Origin.of(target_of(module), 1)
    assert origin.holds_for(found_before, found_before.default)
    assert not origin.holds_for(replace(found_before, edited=True), found_before.default)
    assert not Origin.of(target_of(module), 2).holds_for(found_before, found_before.default)


def test_numbers_of_a_calibration_do_not_make_another_machine(monkeypatch, found_before, tmp_path):
    """The schedule is used still, and it is said that it was measured before."""
    found_before.write(tmp_path)
    before = target_of(nnc.parse(PRODUCT))
    after = replace(before, machine=replace(before.machine, l2_bytes=before.machine.l2_bytes // 2))
    monkeypatch.setattr("nnc.targets.attribute.host", lambda: after)
    said = []
    assert code(TunedFolder(tmp_path), said)
    assert any("1 of 1 kernels have a tuned schedule" in line for line in said)
    assert any("before this machine was calibrated anew" in line for line in said)


# -- other versions, other shapes ------------------------------------------------------------------


def test_a_schedule_of_another_version_is_used_and_that_is_said(tmp_path):
    replace(scheduled(), version="0.0.9").write(tmp_path)
    said = []
    assert code(TunedFolder(tmp_path), said) != code()
    assert any(f"measured with nnc 0.0.9, this is {VERSION}" in line for line in said)


def test_an_error_says_which_version_wrote_a_file(tmp_path):
    path = replace(scheduled(), version="9.9").write(tmp_path)
    path.write_text(path.read_text().replace("schedule.vectorize", "schedule.swizzle"))
    with pytest.raises(NncError) as error:
        TunedFolder(tmp_path).read()
    assert f"it was written by nnc 9.9, this is {VERSION}" in str(error.value)
    assert path.name in str(error.value)


def test_a_file_without_what_later_versions_wrote_is_read(tmp_path):
    path = scheduled().write(tmp_path)
    text = path.read_text()
    for name in ("default", "numbers"):
        text = text.replace(f', {name} = ""', "")
    text = text.replace(", threads = 0 : i64", "")
    path.write_text(text)
    one = only(tmp_path)
    assert (one.default, one.numbers, one.threads) == ("", "", 0) and "threads" not in text


def test_a_schedule_for_another_shape_is_not_used_and_that_is_said(tmp_path):
    scheduled().write(tmp_path)
    programs = []
    for tuned in (TunedFolder(tmp_path), None):
        module, said = nnc.parse(PRODUCT.replace("40", "41")), []
        mark_entry(module)
        run_stages(module, tuned=tuned, progress=said.append)
        programs.append(make_program(module).code)
        if tuned is not None:
            assert any("0 of 1 kernels have a tuned schedule" in line for line in said)
            assert any("its schedules are for other kernels: an op, a shape" in s for s in said)
    assert programs[0] == programs[1]


def test_an_empty_folder_is_no_error(tmp_path):
    said = []
    assert code(TunedFolder(tmp_path), said) == code()
    assert any("0 of 1 kernels have a tuned schedule" in line for line in said)


def test_a_full_disk_loses_nothing(monkeypatch, found_before, tmp_path):
    path = replace(found_before, numbers="another").write(tmp_path)
    before = path.read_bytes()
    made_up(monkeypatch, [0.9, 0.9])

    def full(*paths):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real = os.replace
    monkeypatch.setattr("nnc.kernels.tuned.write_whole", lambda *a: failing(real, full, *a))
    with pytest.raises(NncError, match=r"cannot write .*: No space left on device"):
        tune_model(product(), inputs_of, tmp_path, trials=1)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def failing(real, full, path, *parts):
    from nnc.ir.files import write_whole

    os.replace = full
    try:
        write_whole(path, *parts)
    finally:
        os.replace = real


# -- merging ---------------------------------------------------------------------------------------


def merged(tmp_path, ours, theirs):
    """(what is there then, what was said)"""
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    for one in ours:
        one.write(tmp_path / "ours")
    for one in theirs:
        one.write(tmp_path / "theirs")
    said = []
    merge(tmp_path / "theirs", tmp_path / "ours", None, said.append)
    return TunedFolder(tmp_path / "ours").read(), said


def of(number, gain, spread=0.01, **changes):
    one = scheduled(number)
    changes = {"version": VERSION, "default": "d", **changes}
    return replace(one, gain=gain, spread=spread, **changes)


def test_merging_adds_what_is_not_there(tmp_path):
    there, said = merged(tmp_path, [of(1, 0.1)], [of(2, 0.2, machine="'avr'")])
    assert sorted(one.gain for one in there.values()) == [0.1, 0.2] and said == []


@pytest.mark.parametrize(
    "ours, theirs, kept",
    [
        ({"gain": 0.1}, {"gain": 0.2}, "theirs"),
        ({"gain": 0.2}, {"gain": 0.1}, "ours"),
        # The one that saves more as far as is sure: at least 9 %, not 5 %.
        ({"gain": 0.1, "spread": 0.01}, {"gain": 0.25, "spread": 0.2}, "ours"),
        ({"gain": 0.25, "spread": 0.2}, {"gain": 0.1, "spread": 0.01}, "theirs"),
        # What is compared with other defaults, or by another version, says nothing of ours.
        ({"gain": 0.1}, {"gain": 0.3, "default": "e"}, "ours"),
        ({"gain": 0.1}, {"gain": 0.3, "version": "0.0.9"}, "ours"),
        ({"gain": 0.3, "version": "0.0.9"}, {"gain": 0.1}, "theirs"),
    ],
    ids=str,
)
def test_of_two_the_better_one_stays_and_it_is_said(tmp_path, ours, theirs, kept):
    there, said = merged(tmp_path, [of(1, **ours)], [of(2, **theirs)])
    (one,) = there.values()
    wanted = scheduled(1 if kept == "ours" else 2)
    assert str(one.schedule) == str(wanted.schedule)
    assert len(said) == 1 and ("stays" in said[0]) == (kept == "ours")


def test_of_two_equal_ones_the_surer_measurement_stays(tmp_path):
    there, said = merged(tmp_path, [of(1, 0.1, 0.05)], [of(1, 0.08, 0.01)])
    assert [one.gain for one in there.values()] == [0.08] and said == []


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_merging_overwrites_nothing_that_was_edited(tmp_path, whose):
    for name, one in (("ours", of(1, 0.1)), ("theirs", of(2, 0.5))):
        (tmp_path / name).mkdir()
        path = one.write(tmp_path / name)
        if name == whose:
            edit(path)
    (path,) = (tmp_path / "ours").iterdir()
    before, said = path.read_bytes(), []
    merge(tmp_path / "theirs", tmp_path / "ours", None, said.append)
    assert path.read_bytes() == before and "edited by hand" in said[0]


def test_what_was_edited_is_so_where_it_was_not_there(tmp_path):
    (tmp_path / "theirs").mkdir()
    edit(of(1, 0.1).write(tmp_path / "theirs"))
    merge(tmp_path / "theirs", tmp_path / "new", None, print)
    assert only(tmp_path / "new").edited


def test_a_damaged_folder_merges_nothing(tmp_path):
    (tmp_path / "theirs").mkdir()
    of(1, 0.1).write(tmp_path / "theirs")
    (tmp_path / "theirs" / "zz.mlir").write_text("module {")
    with pytest.raises(NncError, match=r"zz\.mlir"):
        merge(tmp_path / "theirs", tmp_path / "new", None, print)
    assert not (tmp_path / "new").exists()


# -- one file --------------------------------------------------------------------------------------


def test_an_exported_file_has_all_of_a_folder(tmp_path):
    (tmp_path / "ours").mkdir()
    of(1, 0.1).write(tmp_path / "ours")
    edit(of(2, 0.2, machine="'avr'").write(tmp_path / "ours"))
    here, there = Log(tmp_path / "here.jsonl"), Log(tmp_path / "there.jsonl")
    here.append([ONE, replace(ONE, kernel="other")])
    there.append([ONE])
    export(tmp_path / "ours", here, tmp_path / "out.json")
    counts = merge(tmp_path / "out.json", tmp_path / "new", there, print)
    assert counts == (2, 1)
    texts = [sorted(p.read_text() for p in (tmp_path / n).iterdir()) for n in ("ours", "new")]
    assert texts[0] == texts[1]
    assert there.read() == here.read()
    assert merge(tmp_path / "out.json", tmp_path / "new", there, print) == (0, 0)


@pytest.mark.parametrize("damage", ["cut", "changed", "version", "none", "binary"])
def test_a_damaged_export_is_one_error_and_adds_nothing(tmp_path, damage):
    (tmp_path / "ours").mkdir()
    of(1, 0.1).write(tmp_path / "ours")
    path = tmp_path / "out.json"
    export(tmp_path / "ours", None, path)
    text = path.read_text()
    about = json.loads(text)["about"]
    from nnc.ir.sealed_json import sealed

    path.write_bytes(
        {
            "cut": text[:-40].encode(),
            "changed": text.replace("gain", "pain").encode(),
            "version": sealed({**about, "version": 99}).encode(),
            "none": sealed({"version": 1}).encode(),
            "binary": b"\xff\xfe\x00",
        }[damage]
    )
    with pytest.raises(NncError, match=r"out\.json: no file of nnc tune --export, or damaged"):
        imported(path)
    with pytest.raises(NncError):
        merge(path, tmp_path / "new", None, print)
    assert not (tmp_path / "new").exists()


# -- pruning ---------------------------------------------------------------------------------------


def pruned(folder, *drop):
    said = []
    prune(folder, kernel()[0], drop, said.append)
    return {(one.told, one.machine) for one in TunedFolder(folder).read().values()}, said


def test_pruning_removes_what_is_of_no_use_and_what_is_named(tmp_path):
    module, function = kernel()
    here = scheduled()
    default = Variants("k", function.body.blocks[0], target_of(module).machine).default
    rows = {
        "used": replace(here, kernel="of another model"),
        "default": replace(here, schedule=default.schedule),
        "elsewhere": replace(here, machine="'avr'"),
        "old": replace(here, kernel="too", version="0.0.9"),
    }
    rows = {name: replace(one, told=name) for name, one in rows.items()}
    for name, one in rows.items():
        replace(one, version=VERSION if name != "old" else one.version).write(tmp_path)
    left, said = pruned(tmp_path)
    assert {told for told, _ in left} == {"used", "elsewhere", "old"}
    assert len(said) == 1 and "it is what the default is now" in said[0]
    assert {told for told, _ in pruned(tmp_path, "machines")[0]} == {"used", "old"}
    assert {told for told, _ in pruned(tmp_path, "versions")[0]} == {"used"}
    assert pruned(tmp_path, "kernels")[0] == set()


def test_pruning_removes_what_is_not_legal_any_more_unless_it_was_edited(tmp_path):
    """A kernel's schedule under the fingerprint of a kernel of other stages, as old ones are."""
    one = scheduled()
    relu = PRODUCT.replace(
        "return %0", "%1 = nn.relu %0 : (tensor<8x40xf32>) -> tensor<8x40xf32>\n  return %1"
    )
    _, function = kernel(relu)
    wrong = Variants("k", function.body.blocks[0], target_of(product()).machine).default.schedule
    path = replace(one, schedule=wrong).write(tmp_path)
    text = path.read_text()
    edit(path)
    left, said = pruned(tmp_path)
    assert left and "was edited by hand and stays, though it is not legal any more" in said[0]
    path.write_text(text)
    assert pruned(tmp_path)[0] == set()
