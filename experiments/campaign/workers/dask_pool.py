"""The same runs on a Dask cluster. Its workers must see the campaign's folder under the same path.

When a worker dies, Dask gives its run to another worker; the result is the same, since it depends on the run's
description only. A run that killed several workers counts as failed.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import time
import traceback
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from spillway.base.errors import SpillwayError
from spillway.base.plugins import place_in
from spillway.experiments.campaign.workers.pool import News, Progress, RunEnd, RunFailure, RunStart, describe
from spillway.experiments.run import provenance
from spillway.experiments.run.errors import ClusterLost, SpecError
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Conduct, RunSpec, Task

_JOBQUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "moab": "MoabCluster",
    "htcondor": "HTCondorCluster",
}
"""Batch systems from which dask-jobqueue gets workers, by their names on the command line."""

CONNECT_S = 20.0
CLOSE_S = 5.0
POLL_S = 0.5

_SAID_AFTER_S = 5.0
"""Time without workers after which a warning is given (s)."""


class DaskPool:
    """Runs tasks on the workers of a Dask cluster (see :class:`spillway.experiments.campaign.workers.pool.Executor`).

    Parameters
    ----------
    connect
        Makes the client; called once, when the runs begin.
    patience_s
        Time without any worker (s) after which the command ends.
    warn
        Called when the cluster has had no worker for :data:`_SAID_AFTER_S`.
    """

    def __init__(self, connect: Callable[[], Any], patience_s: float, warn: Callable[[str], None]) -> None:
        self._connect = connect
        self._patience_s = patience_s
        self._warn = warn

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[Task, News], None, None]:
        """See :meth:`spillway.experiments.campaign.workers.pool.Executor.run`.

        Raises
        ------
        SpecError
            There is no such cluster, or its workers do not see the campaign's folder.
        ClusterLost
            Its scheduler is gone, or it has had no worker for too long.
        """
        todo = {task.run.id: task for task in tasks}
        if not todo:
            return
        client = self._connect()
        topic = f"spillway-{uuid.uuid4().hex}"
        news: queue.Queue[tuple[str, News | None]] = queue.Queue()
        try:
            _check_shared(client, next(iter(todo.values())).root)
            client.subscribe_topic(topic, lambda event: news.put(_decode(event[1])))
            futures = {
                client.submit(_work, task, topic, str(Path.cwd()), key=f"{topic}-{name}", pure=False): name
                for name, task in todo.items()
            }
            for future, name in futures.items():
                future.add_done_callback(lambda done, name=name: news.put((name, _end(done))))
            yield from _listen(news, todo, _Watch(client, self._patience_s, self._warn))
        finally:
            with contextlib.suppress(TimeoutError):  # a lost cluster may not answer; its cause is known
                client.close(timeout=CLOSE_S)

    @classmethod
    def of(cls, conduct: Conduct, workers: int, warn: Callable[[str], None] = lambda _: None) -> DaskPool:
        """The cluster of a scheduler that listens at an address, or ``workers`` workers of a batch system.

        These get resources from Dask's own configuration file.

        Raises
        ------
        SpecError
            The files for an encrypted connection are not three, or one is missing.
        """
        if not conduct.dask:
            return cls(lambda: _jobqueue_client(conduct.dask_jobqueue, workers), conduct.dask_patience_s, warn)
        files = tuple(conduct.dask_tls.split(",")) if conduct.dask_tls else ()
        missing = next((file for file in files if not Path(file).is_file()), None)
        if len(files) not in (0, 3):
            raise SpecError(f"--dask-tls: expected three files, CA,CERT,KEY, got {conduct.dask_tls!r}")
        if missing is not None:
            raise SpecError(f"--dask-tls: there is no file {missing!r}; expected CA,CERT,KEY, three files (PEM)")
        return cls(lambda: _client(conduct.dask, files), conduct.dask_patience_s, warn)


class _Watch:
    """Whether a cluster still has a scheduler and workers."""

    def __init__(self, client: Any, patience_s: float, warn: Callable[[str], None]) -> None:
        self._client = client
        self._patience_s = patience_s
        self._warn = warn
        self._since_s = math.inf
        self._said = False

    def look(self) -> None:
        """Warn once about a cluster without workers; raise :class:`ClusterLost` where waiting is no use."""
        now_s = time.monotonic()
        if self._client.status != "running":
            raise ClusterLost("the scheduler of the Dask cluster is gone")
        if self._client.scheduler_info()["workers"]:
            self._since_s, self._said = math.inf, False
            return
        self._since_s = min(self._since_s, now_s)
        gone_s = now_s - self._since_s
        if gone_s >= self._patience_s:
            raise ClusterLost(f"the Dask cluster has had no worker for {self._patience_s:g} s (--dask-patience)")
        if gone_s >= _SAID_AFTER_S and not self._said:
            self._said = True
            self._warn(f"the Dask cluster has no worker; waiting for one for {self._patience_s:g} s (--dask-patience)")


def _listen(
    news: queue.Queue[tuple[str, News | None]], todo: dict[str, Task], watch: _Watch
) -> Generator[tuple[Task, News], None, None]:
    waiting = set(todo)
    begun: set[str] = set()
    while waiting:
        try:
            name, item = news.get(timeout=POLL_S)
        except queue.Empty:
            watch.look()
            continue
        if item is None:
            raise ClusterLost("the scheduler of the Dask cluster is gone, or has given the runs up")
        if name not in waiting:
            continue
        if name not in begun:
            begun.add(name)
            yield todo[name], RunStart()
        if isinstance(item, RunEnd | RunFailure):
            waiting.discard(name)
        yield todo[name], item


def _work(task: Task, topic: str, folder: str) -> RunFailure | None:
    """Do one run on a worker; failures are results, so that Dask does not try them again elsewhere.

    ``folder`` is the command's working directory: files of outside classes and the folder of results may be relative to
    it.
    """
    from distributed import get_worker

    task = replace(task, run=_placed(task.run, Path(folder)), root=Path(folder, task.root))
    run = task.run
    try:
        code = provenance.code_of_run(run.policy.policy, run.model.name, run.model_options)
    except SpillwayError as error:
        return RunFailure(f"this Dask worker cannot load code that the command could load: {error}")
    if run.code != code:
        return RunFailure("this Dask worker has other code than the command: restart the workers")
    worker = get_worker()

    def report(progress: Progress) -> None:
        state = [progress.time_s, progress.done, progress.submitted, progress.waiting]
        worker.log_event(topic, {"run": task.run.id, "progress": state})

    report(Progress(0.0, 0, 0, 0))
    try:
        execute(task, report)
    except Exception as error:
        return RunFailure(describe(error), traceback.format_exc())
    return None


def _placed(run: RunSpec, folder: Path) -> RunSpec:
    """Make the paths of classes in files valid in the worker's folder, too; no change if both folders are the same."""
    if folder == Path.cwd():
        return run

    def placed(options: Mapping[str, Any]) -> dict[str, Any]:
        return {key: place_in(folder, value) if isinstance(value, str) else value for key, value in options.items()}

    model = replace(run.model, name=place_in(folder, run.model.name), options=placed(run.model.options))
    policy = replace(run.policy, policy=place_in(folder, run.policy.policy))
    return msgspec.structs.replace(run, policy=policy, model=model, model_options=placed(run.model_options))


def _decode(event: dict[str, Any]) -> tuple[str, News]:
    return event["run"], Progress(*event["progress"])


def _end(future: Any) -> News | None:
    """The end of a run: its own result, or its error; ``None`` if Dask gave it up, as without a scheduler."""
    if future.status == "finished":
        failed: RunFailure | None = future.result()
        return failed or RunEnd()
    if future.status != "error":
        return None
    return RunFailure(describe(future.exception()))


def _check_shared(client: Any, root: Path) -> None:
    """Refuse a cluster with workers that do not see our files."""
    token = root.resolve() / f".dask-{uuid.uuid4().hex}"
    token.touch()
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
        seen = client.run(os.path.exists, str(token))
    except TimeoutError:
        raise SpecError(f"the Dask cluster has had no worker for {CONNECT_S:g} s") from None
    finally:
        token.unlink()
    blind = [address for address, found in seen.items() if not found]
    if blind:
        raise SpecError(
            f"the Dask worker {blind[0]} does not see {str(root.resolve())!r}; give --out a folder on a file system "
            "that all workers share"
        )


def _distributed(option: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise SpecError(f"{option} needs the package distributed: pip install 'spillway[dask]'") from None
    return distributed


def _client(address: str, tls: Sequence[str] = ()) -> Any:
    distributed = _distributed("--dask")
    connect: Any = distributed.Client
    security: Any = distributed.Security
    try:
        names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
        secured = security(require_encryption=True, **dict(zip(names, tls, strict=True))) if tls else None
        return connect(address, timeout=CONNECT_S, set_as_default=False, security=secured)
    except (OSError, ValueError, TypeError, TimeoutError, RuntimeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SpecError(
            f"no Dask scheduler answers at {address!r} ({reason}); expected such as tcp://host:8786"
        ) from None


def _jobqueue_client(kind: str, workers: int) -> Any:
    if kind not in _JOBQUEUES:
        raise SpecError(f"unknown batch system {kind!r}; known: {', '.join(_JOBQUEUES)}")
    distributed = _distributed("--dask-jobqueue")
    try:
        import dask_jobqueue
    except ImportError:
        raise SpecError("--dask-jobqueue needs the package dask-jobqueue: pip install dask-jobqueue") from None
    try:
        cluster = getattr(dask_jobqueue, _JOBQUEUES[kind])()
    except (OSError, ValueError, TypeError) as error:
        raise SpecError(f"cannot start Dask workers with {kind}: {error} (see dask-jobqueue's configuration)") from None
    cluster.scale(jobs=workers)
    connect: Any = distributed.Client
    return connect(cluster, set_as_default=False)
