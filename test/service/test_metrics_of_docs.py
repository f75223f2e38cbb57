"""What docs/operations.md says of metrics and alarms, beside what a server answers."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

pytestmark = pytest.mark.service

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
TABLE = re.search(r"## Metrics\n(.*?)\n\nAlert on:", PAGE, re.DOTALL)
ALARMS = re.search(r"\n(Alert on:.*?)\n\n", PAGE, re.DOTALL)
NAME = re.compile(r"`((?:nnc|process)_\w+)(?:\{([^}]*)\})?")


@pytest.fixture
def samples(person, http) -> dict[str, set[frozenset[str]]]:
    """The names of all samples, each with the sets of labels that it has."""
    ann = person()
    ann.upload()
    assert ann.ask("GET", "/models/none").status_code == 404
    operator = person("op", operator=True)
    answer = http.get("/metrics", headers={"Authorization": f"Bearer {operator.token}"})
    found: dict[str, set[frozenset[str]]] = {}
    for family in text_string_to_metric_families(answer.text):
        for one in family.samples:
            found.setdefault(one.name, set()).add(frozenset(one.labels))
    return found


def test_each_name_of_the_page_is_one_of_the_server_s(samples) -> None:
    """Alarms too, with their labels: an alarm on a name that is none never sounds."""
    assert TABLE and ALARMS
    named = NAME.findall(TABLE[1])
    alarms = NAME.findall(ALARMS[1])
    assert len(named) >= 10 and len(alarms) >= 4
    for name, labels in named + alarms:
        assert name in samples, f"{name} is no metric of the server's"
        known = set().union(*samples[name])
        asked = set(re.findall(r"(\w+)(?:=~?\"|,|$)", labels))
        assert asked <= known or labels == "..", f"{name} has no {sorted(asked - known)}"


def test_each_metric_of_nnc_is_on_the_page(samples) -> None:
    text = PAGE
    for name in samples:
        stem, _, suffix = name.rpartition("_")
        assert f"`{name}" in text or (f"`_{suffix}`" in text and f"`{stem}_" in text), name


def test_states_in_alarms_are_states_of_jobs(person, http) -> None:
    operator = person("op", operator=True)
    text = http.get("/metrics", headers={"Authorization": f"Bearer {operator.token}"}).text
    states = set(re.findall(r'nnc_jobs\{state="(\w+)"\}', text))
    assert ALARMS is not None
    asked = set(re.findall(r'nnc_jobs\{state="(\w+)"\}', ALARMS[1]))
    assert asked and asked <= states
