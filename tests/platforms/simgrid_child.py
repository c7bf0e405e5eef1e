"""Child process: loads a platform in SimGrid and prints hosts, links and routes as JSON (standard library only).

Usage: ``python simgrid_child.py FILE.xml [STRIDE]``: every STRIDE-th pair of hosts, default all.
"""

import json
import os
import sys

sys.path.append("/usr/lib/python3/dist-packages")
import simgrid

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
engine = simgrid.Engine(["child", "--log=root.thres:critical"])
engine.load_platform(sys.argv[1])
stride = int(sys.argv[2]) if len(sys.argv) > 2 else 1
hosts = engine.all_hosts
pairs = [(src, dst) for src in hosts for dst in hosts][::stride]
routes = []


def collect():
    """Read the routes from inside the simulation: the outermost zone is finished only when it starts."""
    for src, dst in pairs:
        try:
            links, latency = src.route_to(dst)
            routes.append([src.name, dst.name, [link.name for link in links], latency])
        except Exception as error:
            routes.append([src.name, dst.name, None, str(error)])


simgrid.Actor.create("collect", hosts[0], collect)
engine.run()
print(
    json.dumps(
        {
            "hosts": {
                host.name: [[host.pstate_speed(i) for i in range(host.pstate_count)], host.core_count, host.pstate]
                for host in hosts
            },
            "links": {link.name: [link.bandwidth, link.latency] for link in engine.all_links},
            "routes": routes,
        }
    )
)
