"""Words of the rules that the loop finds broken: it states a rule, its numbers and its texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from spillway.base.errors import SpillwayError, shown
from spillway.core import Fault, RequestKind, Rule
from spillway.protocol.limits import LATEST_S, time_fault
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.world.machines import Machines, State

_Words = Callable[[Machines, Fault], str]

_WIRE_NAMES = {
    RequestKind.CALL_ME_LATER: "CALL_ME_LATER",
    RequestKind.EXECUTE_JOB: "EXECUTE_JOB",
    RequestKind.KILL_JOB: "KILL_JOB",
    RequestKind.REGISTER_JOB: "REGISTER_JOB",
    RequestKind.REGISTER_PROFILE: "REGISTER_PROFILE",
    RequestKind.REJECT_JOB: "REJECT_JOB",
    RequestKind.SET_METADATA: "SET_JOB_METADATA",
}

_PLACES = {Rule.NOW_RANGE: "$.now", Rule.LATER_THAN_NOW: "$.events[{}].timestamp"}
"""Place in the reply of rules that no request breaks."""


class Words:
    """Makes errors of faults.

    Parameters
    ----------
    machines
        Names of the machines.
    """

    def __init__(self, machines: Machines) -> None:
        self._machines = machines

    def rule(self, fault: Fault) -> str:
        """The rule, in words."""
        return _RULES[fault.rule](self._machines, fault)

    def error(self, fault: Fault) -> SpillwayError:
        """The error by which the simulation ends."""
        rule = self.rule(fault)
        if fault.unscheduled:
            return SimulatorInputError(f"job {shown(fault.job)} cannot run without a scheduler: {rule}")
        if fault.rule in (Rule.LATEST_TIME, Rule.NOT_PLAYED):
            return SimulatorInputError(rule)
        if fault.request is not None:
            rule = f"{_WIRE_NAMES[fault.request]}: {rule}"
            return SchedulerFault(rule, f"$.events[{fault.index}].data", fault.job)
        place = _PLACES.get(fault.rule, "$.events[{}]" if fault.index >= 0 else "$")
        return SchedulerFault(rule, place.format(fault.index))


def _name(machines: Machines, fault: Fault, position: int = 0) -> str:
    """Number and name of the machine among a fault's numbers."""
    number = int(fault.numbers[position])
    return f"{number} ({shown(machines.all[number].name)})"


def _wrong_count(_: Machines, fault: Fault) -> str:
    requested, got, mapped = map(int, fault.numbers)
    what = "'mapping' must have" if mapped else "'alloc' must have"
    return f"its {what} as many places as the job requests, {requested}, got {got} on {shown(fault.texts[0])}"


def _busy(machines: Machines, fault: Fault) -> str:
    remedy = "--enable-compute-sharing"
    if fault.numbers[1]:
        remedy = "storage sharing (leave out --disable-storage-sharing)"
    return (
        f"machine {_name(machines, fault)} is in use by {', '.join(fault.texts) or 'a job'}, and "
        f"sharing it needs {remedy}"
    )


def _state(machines: Machines, fault: Fault) -> str:
    state = State(int(fault.numbers[1]))
    return f"machine {_name(machines, fault)} cannot compute now, it is {state.name.lower()}"


def _storage_label(_: Machines, fault: Fault) -> str:
    label, *given = fault.texts
    return (
        f"storage_mapping must name the storage label {shown(label)} of its profile, got {', '.join(map(repr, given))}"
    )


def _storage_needed(_: Machines, fault: Fault) -> str:
    return (
        f"it needs a storage_mapping for the label {shown(fault.texts[0])}: only with exactly one storage host may it "
        f"be left out, and there are {fault.numbers[0]:.0f}"
    )


def _storage_unknown(_: Machines, fault: Fault) -> str:
    machine, count = map(int, fault.numbers)
    return f"storage_mapping of {shown(fault.texts[0])}: no machine {machine}, the ids are 0..{count - 1}"


def _call_range(_: Machines, fault: Fault) -> str:
    now, moment = fault.numbers
    return f"'timestamp' must lie after the present time {now:.9g} and be at most {LATEST_S:.0f}, got {moment!r}"


def _idle_calls(_: Machines, fault: Fault) -> str:
    return (
        f"{fault.numbers[0]:.0f} calls (CALL_ME_LATER) one after another, while no job runs or is to come "
        f"({fault.numbers[1]:.0f} wait): the simulation would never end"
    )


_LEFT = (
    "running jobs",
    "machines that change their power state",
    "kills under way",
    "calls requested (CALL_ME_LATER)",
    "jobs that have not ended",
)
"""Things that may be left after the last reply."""


def _requests_at_end(_: Machines, fault: Fault) -> str:
    found = [f"{count:.0f} {what}" for what, count in zip(_LEFT, fault.numbers, strict=True) if count]
    return f"the reply to SIMULATION_ENDS must hold no requests; after it there are {', '.join(found)}"


def _latest_time(_: Machines, fault: Fault) -> str:
    return (
        f"the simulated time has reached {fault.numbers[0]:.6g} s, more than {LATEST_S:.0f} s (272 years): a job takes "
        "longer than that (are its amounts in the wrong unit?), or the scheduler only waits"
    )


def _plain(text: str, _: Machines, fault: Fault) -> str:
    """A sentence with the fault's texts, as they are or ``shown``, and whole numbers."""
    numbers = [int(number) for number in fault.numbers]
    return text.format(*numbers, text=fault.texts, shown=[shown(word) for word in fault.texts])


def _sentence(text: str) -> _Words:
    return partial(_plain, text)


_RULES: dict[Rule, _Words] = {
    Rule.TEXT: lambda _, fault: fault.texts[0],
    Rule.NOW_RANGE: lambda _, fault: f"'now' {time_fault(fault.numbers[0])}",
    Rule.LATER_THAN_NOW: lambda _, fault: (
        f"an event's timestamp must not lie after the message's 'now' ({fault.numbers[0]!r}), got {fault.numbers[1]!r}"
    ),
    Rule.NO_DYNAMIC_JOBS: _sentence("registering jobs and profiles needs --enable-dynamic-jobs"),
    Rule.REGISTRATION_CLOSED: _sentence(
        "nothing can be registered after the notification registration_finished (continue_registration does not "
        "help the next event of its reply: register in the next message)"
    ),
    Rule.NOT_SUBMITTED: _sentence("only a SUBMITTED job can be executed, it is {text[0]}"),
    Rule.NOT_REJECTABLE: _sentence("only a SUBMITTED job can be rejected, it is {text[0]}"),
    Rule.NO_KILL: _sentence("'job_ids' must name at least one job"),
    Rule.NOT_RUNNING: _sentence("{shown[0]}: only a running job can be killed, it is {text[1]}"),
    Rule.NOTHING_TO_KILL: _sentence("{shown[0]}: it is RUNNING by CHANGE_JOB_STATE only, there is nothing to kill"),
    Rule.KILL_UNKNOWN: _sentence("{shown[0]}: {text[1]}"),
    Rule.QUOTE_IN_METADATA: _sentence("'metadata' must not contain a double quote, got {shown[0]}"),
    Rule.CALL_RANGE: _call_range,
    Rule.NO_MACHINE: _sentence("its 'alloc' must name at least one machine"),
    Rule.UNKNOWN_MACHINE: lambda _, fault: (
        f"its 'alloc' names machine {fault.numbers[0]:.0f}, the ids are 0..{fault.numbers[1] - 1:.0f}"
    ),
    Rule.WRONG_COUNT: _wrong_count,
    Rule.MACHINE_BUSY: _busy,
    Rule.MACHINE_STATE: _state,
    Rule.NO_COMPUTATION_STATE: lambda machines, fault: (
        f"machine {_name(machines, fault)} is not in a computation power state"
    ),
    Rule.MAPPING_GAP: lambda _, fault: (
        f"its 'mapping' must have the executors 0..{fault.numbers[0] - 1:.0f} without a gap"
    ),
    Rule.MAPPING_PLACE: _sentence("its 'mapping' puts executor {0} on place {1} of an allocation of {2}"),
    Rule.EXECUTORS: _sentence("its profile is made for {0} executors, got {1}"),
    Rule.STORAGE_LABEL: _storage_label,
    Rule.STORAGE_MAPPING_NEEDED: _storage_needed,
    Rule.STORAGE_UNMAPPED: _sentence("storage_mapping must name the storage label {shown[0]} of its profile"),
    Rule.STORAGE_UNKNOWN: _storage_unknown,
    Rule.NO_STORAGE_HOST: lambda machines, fault: (
        f"storage_mapping of {shown(fault.texts[0])}: machine {_name(machines, fault)} is no storage host"
    ),
    Rule.STORAGE_COMPUTES: lambda machines, fault: (
        f"it would compute {fault.numbers[0]:g} flop on the storage host {_name(machines, fault, 1)}"
    ),
    Rule.NO_EXTRA_IO: _sentence("its profile {shown[0]} ({text[1]}) cannot take an additional_io_job"),
    Rule.EXTRA_IO_KIND: _sentence(
        "additional_io_job: its profile {shown[0]} must be a parallel task, it is {shown[1]}"
    ),
    Rule.EXTRA_IO_MAPPED: _sentence("additional_io_job: a job with a 'mapping' of its own cannot be merged"),
    Rule.IDLE_CALLS: _idle_calls,
    Rule.REQUESTS_AT_END: _requests_at_end,
    Rule.LATEST_TIME: _latest_time,
    Rule.NOT_PLAYED: _sentence(
        "the engine 'waterfill' plays streams beside computation only; this task moves bytes to or from a storage host "
        "without computing: use the engine 'fluid'"
    ),
}
