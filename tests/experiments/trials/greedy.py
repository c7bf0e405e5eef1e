"""A scheduler in thirty lines, not ours: it starts all jobs that fit, and breaks the promise to the first job."""

import json
import sys

import zmq


def main(endpoint: str) -> None:
    """Serve one simulation."""
    socket = zmq.Context().socket(zmq.REP)
    socket.bind(endpoint)
    free, waiting, held = [], [], {}
    while True:
        message = json.loads(socket.recv())
        now, requests = message["now"], []
        for event in message["events"]:
            data = event["data"]
            if event["type"] == "SIMULATION_BEGINS":
                free = [host["id"] for host in data["compute_resources"]]
            elif event["type"] == "JOB_SUBMITTED":
                waiting.append((data["job_id"], data["job"]["res"]))
            elif event["type"] == "JOB_COMPLETED":
                free += held.pop(data["job_id"])
        for job_id, nodes in list(waiting):
            if nodes <= len(free):
                waiting.remove((job_id, nodes))
                held[job_id], free = free[:nodes], free[nodes:]
                alloc = " ".join(map(str, held[job_id]))
                requests.append({"timestamp": now, "type": "EXECUTE_JOB", "data": {"job_id": job_id, "alloc": alloc}})
        socket.send(json.dumps({"now": now, "events": requests}).encode())


main(sys.argv[1])
