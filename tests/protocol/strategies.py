"""Hypothesis strategies for neutral messages: every event, every request, and the JSON values inside them."""

from typing import Any

from hypothesis import strategies as st

from spillway.protocol import messages as m
from spillway.protocol.batsim4.events import FINAL_STATES
from spillway.protocol.batsim4.requests import SETTABLE_STATES

names = st.text(min_size=1, max_size=8)
words = st.text(st.characters(exclude_characters="!", exclude_categories=("Cs",)), min_size=1, max_size=6)
job_ids = st.builds(lambda workload, name: f"{workload}!{name}", words, words)
id_sets = st.frozensets(st.integers(0, 200), max_size=12).map(lambda ids: tuple(sorted(ids)))
some_ids = st.frozensets(st.integers(0, 200), min_size=1, max_size=12).map(lambda ids: tuple(sorted(ids)))
printed = st.integers(0, 10**14).map(lambda millionths: millionths / 1e6)
"""Doubles that six decimals write exactly."""
times = st.floats(0, 1e12)
"""Any finite time."""
integers = st.integers(-(2**63), 2**64 - 1)


def json_values(doubles: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    """JSON values with doubles from a given strategy."""
    leaves = st.none() | st.booleans() | integers | doubles | st.text(max_size=6)
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
    )


def json_objects(doubles: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects with doubles from a given strategy."""
    return st.dictionaries(names, json_values(doubles), max_size=4)


objects = json_objects(printed)
_texts = st.dictionaries(names, st.text(max_size=8), max_size=3)
_resources = st.lists(
    st.builds(m.ResourceInfo, st.integers(0, 500), names, st.sampled_from(["idle", "sleeping"]), _texts, _texts),
    max_size=3,
).map(tuple)
_config = st.builds(
    m.BatsimConfig,
    redis_enabled=st.booleans(),
    redis_port=st.integers(0, 65535),
    dynamic_jobs_enabled=st.booleans(),
    sched_config=st.text(max_size=8),
    extras=st.dictionaries(st.sampled_from(["new", "other-option"]), json_values(printed), max_size=2),
)
_leaf = st.builds(m.TaskProgress, names, printed.map(lambda value: value % 1.0).map(lambda x: round(x, 6)))
_progress = st.recursive(
    _leaf,
    lambda inner: st.builds(
        m.TaskProgress, names, current_task_index=st.integers(-1, 9), current_task=st.none() | inner
    ),
    max_leaves=3,
)
_machine_kinds = st.sampled_from(["event_machine_unavailable", "event_machine_available"])
_plain_kinds = st.sampled_from(["no_more_static_job_to_submit", "no_more_external_event_to_occur"])


def _forwarded(now: float, kind: str, rest: dict[str, Any]) -> m.Notify:
    return m.Notify(now, f"user {kind}", (), {"type": f"user {kind}", "timestamp": now, **rest})


EVENTS: dict[type, st.SearchStrategy[Any]] = {
    m.SimulationBegins: st.builds(m.SimulationBegins, printed, _resources, _resources, config=_config,
     allow_compute_sharing=st.booleans(), allow_storage_sharing=st.booleans(), workloads=_texts,
     profiles=st.dictionaries(names, st.dictionaries(names, objects, max_size=2), max_size=2)),
    m.SimulationEnds: st.builds(m.SimulationEnds, printed),
    m.JobSubmitted: st.builds(m.JobSubmitted, printed, job_ids, objects, st.none() | objects),
    m.JobCompleted: st.builds(m.JobCompleted, printed, job_ids, st.sampled_from(sorted(FINAL_STATES, key=str)),
     st.integers(-2, 255), id_sets),
    m.JobKilled: st.builds(m.JobKilled, printed, st.lists(job_ids, min_size=1, max_size=3).map(tuple),
     st.dictionaries(job_ids, _progress, max_size=3)),
    m.ResourceStateChanged: st.builds(m.ResourceStateChanged, printed, some_ids, st.integers(-2, 30)),
    m.RequestedCall: st.builds(m.RequestedCall, printed),
    m.EnergyAnswer: st.builds(m.EnergyAnswer, printed, printed),
    m.EstimateQuery: st.builds(m.EstimateQuery, printed, job_ids, objects),
    m.Notify: st.builds(m.Notify, printed, _plain_kinds) | st.builds(m.Notify, printed, _machine_kinds,
     some_ids) | st.builds(_forwarded, printed, names, st.dictionaries(st.sampled_from("abc"), json_values(printed))),
    m.FromJobMsg: st.builds(m.FromJobMsg, printed, job_ids, json_values(printed)),
}  # fmt: skip
"""A strategy for every event."""

_storable = st.floats(-1e22, 1e22)


def _register_job(now: float, job_id: str, rest: dict[str, Any]) -> m.RegisterJob:
    return m.RegisterJob(now, job_id, {"id": job_id, **rest})


def _executed(now: float, job_id: str, alloc: tuple[int, ...], choice: str, data: st.DataObject) -> m.ExecuteJob:
    if choice == "mapping":
        hosts = data.draw(st.lists(st.integers(0, len(alloc) - 1), min_size=1, max_size=5))
        return m.ExecuteJob(now, job_id, alloc, mapping=dict(enumerate(hosts)))
    if choice == "storage":
        return m.ExecuteJob(
            now, job_id, alloc, storage_mapping=data.draw(st.dictionaries(names, st.integers(0, 200), max_size=3))
        )
    if choice == "io":
        profile = data.draw(st.none() | json_objects(_storable))
        extra = m.AdditionalIoJob(data.draw(some_ids), data.draw(names), profile)
        return m.ExecuteJob(now, job_id, alloc, additional_io_job=extra)
    return m.ExecuteJob(now, job_id, alloc)


REQUESTS: dict[type, st.SearchStrategy[Any]] = {
    m.ExecuteJob: st.builds(_executed, times, job_ids, some_ids, st.sampled_from(["", "mapping", "storage", "io"]),
     st.data()),
    m.RejectJob: st.builds(m.RejectJob, times, job_ids),
    m.KillJob: st.builds(m.KillJob, times, st.lists(job_ids, min_size=1, max_size=3).map(tuple)),
    m.CallMeLater: st.builds(m.CallMeLater, times, times),
    m.RegisterProfile: st.builds(m.RegisterProfile, times, names, names, json_objects(_storable)),
    m.RegisterJob: st.builds(_register_job, times, job_ids,
     st.fixed_dictionaries({"subtime": times | st.integers(0, 10**9), "res": st.integers(0, 10**6), "profile": names},
     optional={"walltime": st.just(-1) | st.floats(1e-6, 1e9) | st.integers(1, 10**9), "x": st.text()})),
    m.NotifyRegistration: st.builds(m.NotifyRegistration, times, st.booleans()),
    m.SetResourceState: st.builds(m.SetResourceState, times, some_ids, st.integers(0, 30)),
    m.SetJobMetadata: st.builds(m.SetJobMetadata, times, job_ids,
     st.text(st.characters(exclude_characters='"', exclude_categories=("Cs",)))),
    m.ChangeJobState: st.builds(m.ChangeJobState, times, job_ids, st.sampled_from(sorted(SETTABLE_STATES, key=str))),
    m.QueryEnergy: st.builds(m.QueryEnergy, times),
    m.AnswerEstimate: st.builds(m.AnswerEstimate, times, job_ids, times),
    m.ToJobMsg: st.builds(m.ToJobMsg, times, job_ids, st.text()),
}  # fmt: skip
"""A strategy for every request."""


def messages() -> st.SearchStrategy[m.Message]:
    """Messages with a few events of any kind."""
    return st.builds(m.Message, printed, st.lists(st.one_of(*EVENTS.values()), max_size=3).map(tuple))


def replies() -> st.SearchStrategy[m.Reply]:
    """Replies with a few requests of any kind, at the reply's time or before."""
    return st.lists(st.one_of(*REQUESTS.values()), max_size=3).map(lambda requests: reply_of(*requests))


def reply_of(*requests: Any) -> m.Reply:
    """A reply at the time of its latest request."""
    return m.Reply(max((request.timestamp for request in requests), default=0.0), requests)
