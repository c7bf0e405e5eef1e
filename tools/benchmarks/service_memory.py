"""Memory of a service over a long conversation: one job after another over ZeroMQ (Linux).

``python -m tools.benchmarks.service_memory [JOBS] [POLICY]``

Each message ends a job with a burst buffer and submits the next one, so that the queue stays empty: what grows is what
the service keeps of jobs that have ended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from spillway.protocol.batsim4 import codec
from spillway.protocol.messages import (
    Event,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    ResourceInfo,
    SimulationBegins,
    SimulationEnds,
)
from tools.fuzz.socket_peer import Service

_NODES = tuple(ResourceInfo(number, f"n{number}") for number in range(64))
_STORAGE = ResourceInfo(64, "s0", properties={"capacity_bytes": "1e15"})


def _job(number: int, now_s: float) -> JobSubmitted:
    name = f"w0!{number}"
    fields = {
        "id": name,
        "subtime": now_s,
        "res": 4,
        "walltime": 3600,
        "profile": "p",
        "bb": 10**9,
        "user": number % 50,
    }
    return JobSubmitted(now_s, name, fields)


def main(jobs: int = 200_000, policy: str = "easy") -> None:
    """Play the conversation; print the service's resident memory on the way."""
    service = Service(policy, "rigid")
    try:
        profiles = {"w0": {"p": {"type": "delay", "delay": 10.0}}}
        begins = SimulationBegins(0.0, _NODES, (_STORAGE,), profiles=profiles)
        service.exchange(codec.encode_message(Message(0.0, (begins,))))
        for number in range(1, jobs + 1):
            now_s = 10.0 * number
            events: list[Event] = [_job(number, now_s)]
            if number > 1:
                ended = JobCompleted(now_s, f"w0!{number - 1}", JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1, 2, 3))
                events.insert(0, ended)
            answer = service.exchange(codec.encode_message(Message(now_s, tuple(events))))
            if answer is None or b"EXECUTE_JOB" not in answer:
                raise SystemExit(f"job {number} was not started: {answer!r}")
            if number in (1, 1000) or not number % max(jobs // 8, 1):
                print(f"{number:>9,} jobs: {_resident(service.pid):8.1f} MB", flush=True)
        now_s = 10.0 * (jobs + 1)
        last = JobCompleted(now_s, f"w0!{jobs}", JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1, 2, 3))
        service.exchange(codec.encode_message(Message(now_s, (last, SimulationEnds(now_s)))))
        code, said = service.end()
        print(f"exit code {code}; its last line: {said.splitlines()[-1] if said else 'none'}")
    finally:
        service.close()


def _resident(pid: int) -> float:
    """Resident memory of a process (MB)."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 200_000, *given[1:2])
