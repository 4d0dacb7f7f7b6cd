"""What a run says at its end: the verdict and the next steps, by exit code and by how far it went."""

from __future__ import annotations

import shlex

import pytest

from nestsync.outcome import StageOutcome
from nestsync.runner.outcomes import InTheWay, next_steps, verdict


def stages(**counts: dict[str, int]) -> list[StageOutcome]:
    return [StageOutcome(stage, "ok", 1.0, counted) for stage, counted in counts.items()]


READ = {"inventory": {"namespaces": 45, "tables": 1160}}
CHECKED = READ | {"check": {"blocking": 0, "warning": 7, "info": 1}}
PLANNED = CHECKED | {"plan": {"create_namespace": 5, "set_properties": 1, "noop": 2, "blocked": 0}}
APPLIED = PLANNED | {"apply": {"applied": 6, "skipped": 2}}
VERIFIED = APPLIED | {"verify": {"verified": 8, "differences": 0}}


@pytest.mark.parametrize(
    ("counts", "exit_code", "said"),
    [
        pytest.param(READ, 0, "Read 45 namespaces and 1,160 tables.", id="inventory"),
        pytest.param(CHECKED, 0, "No blocking findings; 7 warnings.", id="check"),
        pytest.param(PLANNED, 0, "Planned: 6 to write, 2 already as wanted.", id="plan"),
        pytest.param(
            CHECKED | {"plan": {"create_namespace": 1, "noop": 2, "blocked": 4, "left different": 3}},
            0,
            "Planned: 1 to write, 2 already as wanted, 3 left different, 4 blocked.",
            id="plan of what is not as wanted",
        ),
        pytest.param(APPLIED, 0, "Applied: 6 written, 2 skipped.", id="apply"),
        pytest.param(VERIFIED, 0, "The target is reconciled: 6 written and 8 namespaces verified.", id="verify"),
        pytest.param(
            VERIFIED | {"apply": {"applied": 0, "skipped": 8}},
            0,
            "The target is reconciled: nothing had to be written, 8 namespaces verified.",
            id="idempotent",
        ),
        pytest.param(
            CHECKED | {"check": {"blocking": 1}},
            3,
            "1 blocking finding must be resolved first. Nothing was written.",
            id="one blocking",
        ),
        pytest.param(
            CHECKED | {"check": {"blocking": 1200}},
            3,
            "1,200 blocking findings must be resolved first. Nothing was written.",
            id="many blocking",
        ),
        pytest.param(
            VERIFIED | {"apply": {"applied": 4, "failed": 2}, "verify": {"differences": 2}},
            4,
            "The target is reconciled in part: 4 applied, 2 failed, 2 not as planned.",
            id="failed",
        ),
        pytest.param(
            PLANNED | {"plan": {"blocked": 3}, "apply": {"applied": 4}},
            4,
            "The target is reconciled in part: 4 applied, 3 blocked.",
            id="blocked",
        ),
        pytest.param(
            {"verify": {"differences": 4}},
            4,
            "The target is reconciled in part: 4 not as planned.",
            id="verified by itself",
        ),
    ],
)
def test_the_verdict_is_one_sentence(counts: dict[str, dict[str, int]], exit_code: int, said: str) -> None:
    assert verdict(stages(**counts), exit_code) == said


def test_a_stopped_run_says_where_and_why() -> None:
    failed = StageOutcome("apply", "failed", 1.0, {}, "[plan-outdated] moved since the plan was made")
    assert verdict([*stages(**PLANNED), failed], 6) == (
        "Stopped in apply: [plan-outdated] moved since the plan was made"
    )


SEPARATORS = [
    {"separator": ":", "configured": True, "conflicts": 2, "suggested": False},
    {"separator": ";", "configured": False, "conflicts": 0, "suggested": True},
]


@pytest.mark.parametrize(
    ("counts", "exit_code", "separators", "steps"),
    [
        pytest.param(READ, 0, [], ("nestsync check -c c.yaml --run-id r1",), id="after the inventory"),
        pytest.param(CHECKED, 0, [], ("nestsync plan -c c.yaml --run-id r1",), id="after the check"),
        pytest.param(PLANNED, 0, [], ("nestsync apply -c c.yaml --run-id r1",), id="after the plan"),
        pytest.param(APPLIED, 0, [], ("nestsync verify -c c.yaml --run-id r1",), id="after apply"),
        pytest.param(VERIFIED, 0, [], (), id="all done"),
        pytest.param(VERIFIED, 4, [], ("nestsync apply -c c.yaml --run-id r1",), id="some failed"),
        pytest.param(PLANNED, 6, [], ("nestsync run -c c.yaml",), id="drift"),
        pytest.param(
            CHECKED,
            3,
            [],
            (
                "resolve each blocking finding as its hint says, in the configuration or in the mapping file",
                "nestsync run -c c.yaml",
            ),
            id="findings",
        ),
        pytest.param(
            CHECKED,
            3,
            SEPARATORS,
            (
                "set separator.value to ';': no name holds it, and 2 hold ':'",
                "or rename what is in conflict in the mapping file",
                "nestsync run -c c.yaml",
            ),
            id="a free separator",
        ),
    ],
)
def test_what_to_do_next(
    counts: dict[str, dict[str, int]], exit_code: int, separators: list[dict[str, object]], steps: tuple[str, ...]
) -> None:
    found = InTheWay(separators)
    said = next_steps(exit_code=exit_code, run_id="r1", config="c.yaml", stages=stages(**counts), found=found)
    assert said == steps


def test_a_command_can_be_pasted_wherever_the_configuration_is() -> None:
    said = next_steps(exit_code=0, run_id="r1", config="it's/my conf.yaml", stages=stages(**READ), unread=["my lake"])
    words = ["nestsync", "inventory", "-c", "it's/my conf.yaml", "--run-id", "r1", "--source", "my lake"]
    assert [shlex.split(each) for each in said] == [words]


def test_what_the_inventory_lacks_comes_before_the_check() -> None:
    said = next_steps(exit_code=0, run_id="r1", config="c.yaml", stages=stages(**READ), unread=["lake", "target"])
    assert said == ("nestsync inventory -c c.yaml --run-id r1 --source lake --source target",)


@pytest.mark.parametrize(
    ("blocking", "others"),
    [
        pytest.param({"separator-conflict": 2}, (), id="nothing-else"),
        pytest.param({"separator-changed": 2, "separator-conflict": 2}, (), id="of-separators-alone"),
        pytest.param(
            {"separator-conflict": 1, "property-conflict": 15, "collision": 1_043},
            ("resolve collision (1,043), property-conflict (15): each finding has a hint that says how",),
            id="what-no-separator-resolves",
        ),
    ],
)
def test_what_another_separator_leaves_is_named_beside_it(blocking: dict[str, int], others: tuple[str, ...]) -> None:
    given = {"run_id": "r1", "config": "c.yaml", "stages": stages(**CHECKED)}
    steps = next_steps(exit_code=3, found=InTheWay(SEPARATORS, blocking), **given)  # type: ignore[arg-type]
    assert steps[2:-1] == others


@pytest.mark.parametrize(("before", "suggested"), [(";", False), ("|", True)])
def test_a_separator_is_not_suggested_beside_the_way_back_to_it(before: str, suggested: bool) -> None:
    given = {"run_id": "r1", "config": "c.yaml", "stages": stages(**CHECKED)}
    steps = next_steps(exit_code=3, found=InTheWay(SEPARATORS, enabled_with=before), **given)  # type: ignore[arg-type]
    assert steps[0].startswith(f"set separator.value back to {before!r}")
    assert any(step.startswith("set separator.value to ';'") for step in steps) is suggested
    assert steps[-1] == "nestsync run -c c.yaml"
