"""What is compiled of a model to try schedules with is kept for the next attempt, and goes with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nnc.delivery.carrying.kept import Kept

from .test_dispatch_commands import carried, confinement, small  # noqa: F401

pytestmark = pytest.mark.service
CACHE = Path(".cache/nnc/models")
LINE = "the default is kept from before"


def entry(home: Path, text: str = "code") -> Path:
    folder = home / CACHE / "key"
    folder.mkdir(parents=True)
    (folder / "model.o").write_text(text)
    return folder


def given(kept: Kept, model: str, home: Path) -> list[str]:
    kept.give(model, home)
    return sorted(str(path.relative_to(home / CACHE)) for path in (home / CACHE).rglob("*"))


def test_attempts_on_a_model_compile_the_default_once(person, service, confinement, tmp_path):  # noqa: F811
    ann, bob = person("ann"), person("bob")
    (tmp_path / "m.onnx").write_bytes(small())
    words = [sys.executable, "-m", "nnc.tools.nnc", "try", "m.onnx"]
    kernel = subprocess.check_output(words, cwd=tmp_path, text=True).split()[0]
    text = subprocess.check_output([*words, "--kernel", kernel], cwd=tmp_path, text=True)
    wish = {"target": "host", "kernel": kernel, "schedule": text}
    models = {one.token: one.upload(small(), "m.onnx") for one in (ann, bob)}
    logs = []
    for one in (ann, ann, bob):
        answer = one.ask("POST", f"/models/{models[one.token]}/experiments", json=wish)
        assert answer.status_code == 201, answer.text
        found = carried(service, confinement, one)[-1]
        assert found["state"] == "done" and found["report"]["right"], found
        logs.append(one.ask("GET", f"/jobs/{found['id']}/log").text)
    assert [LINE in log for log in logs] == [False, True, False]
    assert len(list((service.folder / "kept").iterdir())) == 2
    assert ann.ask("DELETE", f"/models/{models[ann.token]}").status_code == 204
    assert len(list((service.folder / "kept").iterdir())) == 1
    service.accounts.remove(bob.user)
    service.sweep()
    assert list((service.folder / "kept").iterdir()) == []


def test_each_model_has_its_own_which_goes_with_it(tmp_path):
    kept = Kept(tmp_path / "kept")
    entry(tmp_path / "a")
    kept.take("one", tmp_path / "a")
    assert given(kept, "two", tmp_path / "b") == []
    assert given(kept, "one", tmp_path / "c") == ["key", "key/model.o"]
    kept.take("one", tmp_path / "c")
    kept.sweep({"one"})
    assert given(kept, "one", tmp_path / "d") == ["key", "key/model.o"]
    kept.take("one", tmp_path / "d")
    kept.sweep({"two"})
    assert given(kept, "one", tmp_path / "e") == []


@pytest.mark.parametrize("trick", ["file", "folder", "cache", "twice", "many", "large"])
def test_nothing_is_kept_of_what_is_no_plain_file_or_too_much(trick, tmp_path):
    """Root would read for a command what that may not."""
    secret = tmp_path / "others" / "key"
    secret.mkdir(parents=True)
    (secret / "model.o").write_text("a secret")
    home = tmp_path / "home"
    made = entry(home)
    if trick == "file":
        (made / "weights").symlink_to(secret / "model.o")
    elif trick == "folder":
        (made / "below").symlink_to(secret)
    elif trick == "cache":
        (home / CACHE).rename(home / "elsewhere")
        (home / CACHE).symlink_to(secret.parent)
    elif trick == "twice":
        os.link(secret / "model.o", made / "weights")
    elif trick == "many":
        for i in range(200):
            (made / f"{i}").touch()
    else:
        (made / "weights").write_bytes(bytes(2000))
    kept = Kept(tmp_path / "kept", 1000)
    kept.take("one", home)
    found = given(kept, "one", tmp_path / "next")
    assert found == (["key", "key/model.o"] if trick == "folder" else [])
    assert (secret / "model.o").read_text() == "a secret"
