"""Messages between Batsim's parts, played by actors of the real SimGrid; imports only SimGrid's binding.

The parts are those that Batsim's documentation and recordings show: a server on the master host, a submitter of jobs,
one short-lived actor for each exchange with the scheduler, one for each job and each requested call; they send each
other messages of one byte. SimGrid alone decides when these arrive and in which order actors run. Parallel tasks,
delays, walltimes, rejections, calls and kills are played; power states and dynamic jobs are not.

Standard input gives the case, then one reply for each message; standard output takes the messages and, last, the jobs'
rows. Both are JSON, one object a line.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
from typing import Any

import simgrid  # type: ignore[import-not-found]
from simgrid import Actor, Engine, Host, Mailbox, this_actor

Json = dict[str, Any]

LIBRARY = ctypes.CDLL("libsimgrid.so.3.32")
"""The library that the binding has loaded."""

NANOSECOND = 1e-9
"""Times closer together than this are one: sums of times differ from the nominal ones in their last bits."""


class World:
    """One simulation.

    Parameters
    ----------
    case
        Master, machines by id, first event, and the jobs in the order of their submission.
    """

    def __init__(self, case: Json) -> None:
        self.case = case
        self.master = Host.by_name(case["master"])
        self.machines = [Host.by_name(name) for name in case["machines"]]
        self.jobs = {job["id"]: job for job in case["jobs"]}
        self.running: dict[str, Any] = {}
        self.killed: set[str] = set()
        self.left = len(self.jobs)
        self.calls = 0
        self.ready = self.over = False
        self.submitting = True
        self.events: list[Json] = []
        self.rows: list[Json] = []

    def spawn(self, host: Any, body: Any, *arguments: Any) -> None:
        """Start an actor; an error in it ends the program, which SimGrid would not."""

        def guarded() -> None:
            try:
                body(*arguments)
            except simgrid.ActorKilled:
                raise
            except BaseException:
                traceback.print_exc()
                os._exit(1)

        Actor.create("actor", host, guarded)

    def send(self, kind: str, data: Any = None) -> None:
        """Send one byte to the server and wait until it has it."""
        Mailbox.by_name("server").put((kind, data), 1)

    @property
    def waiting(self) -> bool:
        """Whether a message waits for the server, by SimGrid's own function: its binding does not have it.

        As in Batsim the mailbox is looked up by its name first, for each message too. That lets the other actors of
        this instant run: a message that one of them sends now is not there yet, but one sent a step before is, even if
        the clock has not moved.
        """
        return bool(LIBRARY.sg_mailbox_listen(b"server"))

    def note(self, kind: str, **data: Any) -> None:
        """An event for the scheduler."""
        self.events.append({"timestamp": round(Engine.clock, 6), "type": kind, "data": data})

    # ------------------------------------------------------------------ actors

    def submitter(self) -> None:
        """Send jobs at their times, those of one time together."""
        self.send("hello")
        since = Engine.clock
        batch: list[str] = []
        for job in self.case["jobs"]:
            if job["subtime"] > since + NANOSECOND:
                if batch:
                    self.send("submitted", batch)
                    batch = []
                this_actor.sleep_for(job["subtime"] - since)
                since = Engine.clock
            batch.append(job["id"])
        if batch:
            self.send("submitted", batch)
        self.send("left")

    def exchange(self, events: list[Json]) -> None:
        """Send a message to the scheduler, bring its requests to the server."""
        print(json.dumps({"now": round(Engine.clock, 6), "events": events}), flush=True)
        reply = json.loads(sys.stdin.readline())
        for event in reply["events"]:
            if event["timestamp"] > Engine.clock:
                this_actor.sleep_for(event["timestamp"] - Engine.clock)
            self.send(event["type"], event["data"])
        if reply["now"] > Engine.clock:
            this_actor.sleep_for(reply["now"] - Engine.clock)
        self.send("ready")

    def job(self, name: str, alloc: list[int]) -> None:
        """Run a job; report its end to the server."""
        job, start = self.jobs[name], Engine.clock
        self.running[name] = None
        state = self.run(name, job, [self.machines[number] for number in alloc])
        del self.running[name]
        self.rows.append({"id": name, "start": start, "end": Engine.clock, "state": state, "alloc": alloc})
        if name not in self.killed:
            self.send("completed", (name, state, alloc))

    def run(self, name: str, job: Json, hosts: list[Any]) -> str:
        """Run the job's delay or parallel task; return its final state."""
        budget = job["walltime"]
        if "delay" in job:
            in_time = budget < 0 or job["delay"] < budget
            this_actor.sleep_for(job["delay"] if in_time else budget)
            return "COMPLETED_SUCCESSFULLY" if in_time else "COMPLETED_WALLTIME_REACHED"
        count = len(hosts)
        matrix = [float(job["com"])] * (count * count)
        matrix[:: count + 1] = [0.0] * count
        task = this_actor.exec_init(hosts, [float(job["cpu"])] * count, matrix)
        task.start()
        self.running[name] = task
        try:
            task.wait_for(budget) if budget >= 0 else task.wait()
        except simgrid.TimeoutException:  # as in Batsim it is not cancelled: it is freed with its last reference
            return "COMPLETED_WALLTIME_REACHED"
        except simgrid.CancelException:
            return "COMPLETED_KILLED"
        return "COMPLETED_SUCCESSFULLY"

    def waiter(self, moment: float) -> None:
        """Report when a requested call is due."""
        this_actor.sleep_for(moment - Engine.clock)
        self.send("called")

    def killer(self, names: list[str]) -> None:
        """Cancel the tasks of jobs."""
        found = [name for name in names if self.running.get(name) is not None]
        self.killed.update(found)
        for name in found:
            self.running[name].cancel()
        self.send("killed", (found, names))

    def server(self) -> None:
        """Receive messages one by one; send the events when the scheduler is ready and no message waits."""
        begins = {"timestamp": 0.0, "type": "SIMULATION_BEGINS", "data": self.case["begins"]}
        self.spawn(self.master, self.exchange, [begins])
        while True:
            kind, data = Mailbox.by_name("server").get()
            self.receive(kind, data)
            done = self.left == 0 and not self.submitting and not self.calls
            if self.over and self.ready:
                break
            if self.ready and not self.waiting:
                if not self.events and done and not self.over:
                    self.over = True
                    self.note("SIMULATION_ENDS")
                if self.events:
                    self.ready = False
                    events, self.events = self.events, []
                    self.spawn(self.master, self.exchange, events)
        print(json.dumps({"rows": self.rows}), flush=True)
        os._exit(0)

    def receive(self, kind: str, data: Any) -> None:
        """Deal with a message."""
        if kind == "ready":
            self.ready = True
        elif kind == "left":
            self.submitting = False
            self.note("NOTIFY", type="no_more_static_job_to_submit")
        elif kind == "submitted":
            for name in data:
                self.note("JOB_SUBMITTED", job_id=name, job=self.jobs[name]["source"])
        elif kind == "completed":
            self.ended(*data)
        elif kind == "called":
            self.calls -= 1
            self.note("REQUESTED_CALL")
        elif kind == "killed":
            for name in data[0]:
                alloc = next(row["alloc"] for row in self.rows if row["id"] == name)
                self.ended(name, "COMPLETED_KILLED", alloc)
            self.note("JOB_KILLED", job_ids=data[1], job_progress={})
        elif kind == "EXECUTE_JOB":
            alloc = [number for part in data["alloc"].split() for number in _interval(part)]
            self.spawn(self.machines[alloc[0]], self.job, data["job_id"], alloc)
        elif kind == "REJECT_JOB":
            self.left -= 1
        elif kind == "CALL_ME_LATER":
            self.calls += 1
            self.spawn(self.master, self.waiter, data["timestamp"])
        elif kind == "KILL_JOB":
            self.spawn(self.master, self.killer, data["job_ids"])

    def ended(self, name: str, state: str, alloc: list[int]) -> None:
        """A job has ended."""
        self.left -= 1
        code = {"COMPLETED_WALLTIME_REACHED": -1, "COMPLETED_KILLED": -2}.get(state, 0)
        text = " ".join(map(str, alloc))
        self.note("JOB_COMPLETED", job_id=name, job_state=state, return_code=code, alloc=text)


def _interval(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    """Play the case that standard input gives."""
    case = json.loads(sys.stdin.readline())
    engine = Engine(["actors", "--log=root.thresh:critical"])
    Engine.set_config("host/model:ptask_L07")
    engine.load_platform(case["platform"])
    world = World(case)
    world.spawn(world.master, world.submitter)
    world.spawn(world.master, world.server)
    engine.run()
    sys.exit("SimGrid ended before the conversation")


if __name__ == "__main__":
    main()
