"""The log of measurements: whole, or as it was; damaged lines cost themselves; as a table."""

import csv
import errno
import io
import multiprocessing
import os
import warnings
from dataclasses import replace

import pytest
from nnc.driver.tuning.measurements import Log, Measurement, line, log_of_user, table, unknown
from nnc.ir.diagnostics import NncError

ONE = Measurement(
    "8f3c", "conv", "'avr'", "0.1", 2, "tile 1 = 3", 0.9, 0.88, 0.93, 1e6, {"predicted": -0.5}
)


def others(count):
    return [
        replace(ONE, kernel=f"k{i}", features={"predicted": 0.1, "a": i + 0.5})
        for i in range(count)
    ]


def test_what_was_appended_is_read_in_its_order(tmp_path):
    log = Log(tmp_path / "new" / "log.jsonl")
    assert log.read() == []
    log.append([ONE])
    log.append([])
    log.append(others(3))
    assert log.read() == [ONE, *others(3)]
    assert ONE.predicted == pytest.approx(2**-0.5)


DAMAGED = [
    b"",
    b"\xff\xfe",
    b"{",
    b"[" * 5000,
    b'{"about": {}, "digest": "0"}',
    line(ONE).replace("0.9,", "0.8,").encode(),
    line(replace(ONE, ratio=0.0)).encode(),
    line(replace(ONE, ratio=float("nan"))).encode(),
    line(replace(ONE, features={"a": "b"})).encode(),
    line(replace(ONE, threads="2")).encode(),
    line(ONE)[:-9].encode(),
]


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_line_costs_itself_only(tmp_path, damage):
    log = Log(tmp_path / "log.jsonl")
    log.append([ONE])
    with log.path.open("ab") as file:
        file.write(damage)  # and no end of the line: the process was ended
    log.append(others(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert log.read() == [ONE, *others(1)]
    said = [str(one.message) for one in caught]
    assert said == ([f"{log.path}: 1 damaged lines of measurements are skipped"] if damage else [])


def test_a_full_disk_leaves_the_log_as_it_was(monkeypatch, tmp_path):
    log = Log(tmp_path / "log.jsonl")
    log.append([ONE])
    before = log.path.read_bytes()
    real = os.write

    def half(file, data):
        return real(file, data[: len(data) // 2])

    def none(file, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for write in (half, none):
        monkeypatch.setattr(os, "write", write)
        with pytest.raises(NncError, match=r"cannot write .*log.jsonl.*No space left"):
            log.append(others(2))
        assert log.path.read_bytes() == before
    monkeypatch.setattr(os, "write", real)
    log.append(others(1))
    assert log.read() == [ONE, *others(1)]


def test_of_a_log_that_is_full_the_newer_half_stays(tmp_path):
    log = Log(tmp_path / "log.jsonl", limit=10 * (len(line(ONE)) + 20))
    for one in others(30):
        log.append([one])
    left = log.read()
    assert left == others(30)[-len(left) :] and 4 <= len(left) <= 11
    assert log.path.stat().st_size <= log.limit


def test_a_folder_that_cannot_be_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NncError, match="cannot write"):
        Log(tmp_path / "file" / "log.jsonl").append([ONE])
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(NncError, match="cannot read"):
        Log(tmp_path / "log.jsonl").read()


def _append(path, number):
    for i in range(20):
        Log(path, limit=12_000).append([replace(ONE, kernel=f"{number} {i}")])


def test_processes_that_write_at_once_damage_nothing(tmp_path):
    path = tmp_path / "log.jsonl"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_append, args=(path, n)) for n in range(3)]
    for one in processes:
        one.start()
    for one in processes:
        one.join()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [one.kernel for one in Log(path).read()]
    assert len(set(found)) == len(found) > 10
    for n in range(3):
        own = [int(kernel.split()[1]) for kernel in found if kernel.split()[0] == str(n)]
        assert own == sorted(own)


def test_the_table_has_a_row_for_each_and_a_column_for_each_feature():
    rows = list(csv.DictReader(io.StringIO(table([ONE, *others(1)]))))
    assert [row["kernel"] for row in rows] == ["8f3c", "k0"]
    assert rows[0]["told"] == "tile 1 = 3" and float(rows[0]["ratio"]) == 0.9
    assert [float(row["a"]) for row in rows] == [0, 0.5]
    assert [float(row["predicted"]) for row in rows] == [-0.5, 0.1]


def test_what_is_known_is_not_added_again():
    assert unknown([ONE, *others(2), ONE], [others(1)[0]]) == [ONE, others(2)[1]]


def test_the_log_is_the_users_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert log_of_user() is None  # tests neither read nor write it
    monkeypatch.delenv("NNC_MEASUREMENTS")
    assert log_of_user().path == tmp_path / "nnc" / "tuning" / "measurements.jsonl"
    monkeypatch.setenv("NNC_MEASUREMENTS", str(tmp_path / "mine"))
    assert log_of_user().path == tmp_path / "mine"
