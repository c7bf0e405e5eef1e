"""Random platform files: zones of all kinds in each other, clusters of all kinds, routes of all shapes."""

import random
from collections.abc import Iterable
from math import prod

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'

Inside = tuple[str, list[str]]
"""A zone's name, and the hosts and routers in it that may be gateways."""


def random_platform(seed: int, routings: Iterable[str] = ("Full", "Floyd", "Dijkstra", "DijkstraCache")) -> str:
    """A platform file that SimGrid 3.32 loads; zones of the given kinds."""
    return _Maker(random.Random(seed), tuple(routings)).platform()


def random_cluster(rng: random.Random, name: str, topology: str) -> tuple[str, int]:
    """A ``<cluster>`` element and its number of hosts."""
    parameters, count = _PARAMETERS[topology](rng)
    text = (
        f'<cluster id="{name}" topology="{topology}" topo_parameters="{parameters}" prefix="{name}-" suffix=".x"'
        f' radical="5-{count + 4}" speed="{rng.choice(["1Gf", "100Mf,50Mf", "2e9"])}" core="{rng.randint(1, 4)}"'
        f' bw="{rng.choice(["125MBps", "10Gbps"])}" lat="{rng.choice(["50us", "1ms"])}"'
        f' sharing_policy="{rng.choice(["SHARED", "SPLITDUPLEX", "FATPIPE"])}"'
    )
    if rng.random() < 0.4:
        text += ' loopback_bw="100MBps" loopback_lat="1us"'
    if rng.random() < 0.4 and topology != "FAT_TREE":  # limiters of switches and of nodes may get one name there
        text += ' limiter_link="3MBps"'
    if rng.random() < 0.5 and topology == "FLAT":
        text += ' bb_bw="1GBps" bb_lat="20us" bb_sharing_policy="FATPIPE"'
    return text + "/>", count


def _flat(rng: random.Random) -> tuple[str, int]:
    return "", rng.randint(1, 6)


def _torus(rng: random.Random) -> tuple[str, int]:
    sizes = [rng.randint(2, 5) for _ in range(rng.randint(1, 3))]
    return ",".join(map(str, sizes)), prod(sizes)


def _fat_tree(rng: random.Random) -> tuple[str, int]:
    levels = rng.randint(1, 3)
    vectors = [[rng.randint(1, most) for _ in range(levels)] for most in (4, 3, 3)]
    return ";".join([str(levels), *(",".join(map(str, vector)) for vector in vectors)]), prod(vectors[0])


def _dragonfly(rng: random.Random) -> tuple[str, int]:
    groups, chassis, nodes = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 2)
    routers = rng.randint(groups, 3)
    cables = [rng.randint(1, 2) for _ in range(3)]
    text = f"{groups},{cables[0]};{chassis},{cables[1]};{routers},{cables[2]};{nodes}"
    return text, groups * chassis * routers * nodes


_PARAMETERS = {"FLAT": _flat, "TORUS": _torus, "FAT_TREE": _fat_tree, "DRAGONFLY": _dragonfly}


class _Maker:
    """One file."""

    def __init__(self, rng: random.Random, routings: tuple[str, ...]):
        self.rng, self.routings = rng, routings
        self.lines: list[str] = []
        self.links: list[tuple[str, bool]] = []
        self.number = 0

    def platform(self) -> str:
        self.zone(0)
        return HEAD + "\n".join(self.lines) + "\n</platform>\n"

    def name(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def link(self, policies: tuple[str, ...] = ("SHARED", "FATPIPE", "SPLITDUPLEX", "SPLITDUPLEX")) -> str:
        name, policy = self.name("l"), self.rng.choice(policies)
        bandwidth = self.rng.choice(["10MBps", "1Gbps", "3GiBps", "7Kibps", "1e6"])
        latency = self.rng.choice(["10us", "1ms", "3ns", "0", "0.5s"])
        self.lines.append(f'<link id="{name}" bandwidth="{bandwidth}" latency="{latency}" sharing_policy="{policy}"/>')
        self.links.append((name, policy == "SPLITDUPLEX"))
        return name

    def zone(self, depth: int) -> Inside:
        if depth and self.rng.random() < 0.4:
            return self.cluster()
        if depth == 2 or self.rng.random() < 0.4:
            return self.star() if self.rng.random() < 0.25 else self.leaf()
        name, routing = self.name("z"), self.rng.choice(self.routings)
        self.lines.append(f'<zone id="{name}" routing="{routing}">')
        inner = [self.zone(depth + 1) for _ in range(self.rng.randint(2, 4))]
        within = [point for _, points in inner for point in points]
        for _ in range(4):
            self.link()
        if routing.startswith("Dijkstra"):  # SimGrid crashes if a zone has several gateways in a Dijkstra zone
            inner = [(name, [self.rng.choice(points)]) for name, points in inner]
        self.routes([name for name, _ in inner], routing, dict(inner))
        self.lines.append("</zone>")
        return name, within

    def cluster(self) -> Inside:
        name, topology = self.name("c"), self.rng.choice(list(_PARAMETERS))
        text, count = random_cluster(self.rng, name, topology)
        points = [f"{name}-{number}.x" for number in range(5, count + 5)]
        if topology == "FLAT":
            points.append(f"{name}-{name}_router.x")
            if self.rng.random() < 0.5:
                points[-1] = f"{name}-middle"
                text = text[:-2] + f' router_id="{points[-1]}"/>'
        self.lines.append(text)
        return name, points

    def star(self) -> Inside:
        name, router = self.name("s"), self.name("r")
        hosts = [self.name("h") for _ in range(self.rng.randint(1, 4))]
        self.lines.append(f'<zone id="{name}" routing="Cluster">')
        self.lines += [f'<host id="{host}" speed="1Gf" core="{self.rng.randint(1, 3)}"/>' for host in hosts]
        self.lines.append(f'<router id="{router}"/>')
        links = [self.link(("SHARED", "FATPIPE")) for _ in range(3)]
        for host in hosts:
            self.lines.append(f'<host_link id="{host}" up="{self.rng.choice(links)}" down="{self.rng.choice(links)}"/>')
        if self.rng.random() < 0.5:
            self.lines.append(f'<backbone id="{self.name("bb")}" bandwidth="1GBps" latency="30us"/>')
        if self.rng.random() < 0.3:
            self.lines.append(
                f'<cabinet id="{self.name("k")}" prefix="{name}c" suffix="" radical="0-1" speed="1Gf" bw="1MBps"'
                ' lat="1us"/>'
            )
        self.lines.append("</zone>")
        return name, [*hosts, router]

    def leaf(self) -> Inside:
        name, routing = self.name("z"), self.rng.choice(self.routings)
        self.lines.append(f'<zone id="{name}" routing="{routing}">')
        points: list[str] = []
        for _ in range(self.rng.randint(2, 6)):
            if len(points) < 2 or self.rng.random() < 0.8:
                points.append(self.name("h"))
                speed = self.rng.choice(["1Gf", "1gigaflops", "0"])
                self.lines.append(f'<host id="{points[-1]}" speed="{speed}"/>')
            else:
                points.append(self.name("r"))
                self.lines.append(f'<router id="{points[-1]}"/>')
        for _ in range(4):
            self.link()
        self.routes(points, routing, None)
        self.lines.append("</zone>")
        return name, points

    def routes(self, ends: list[str], routing: str, gateways: dict[str, list[str]] | None) -> None:
        """All pairs for full routing, else a random connected graph."""
        pairs = [(one, other) for index, one in enumerate(ends) for other in ends[:index]]
        if routing != "Full":
            tree = {(ends[index], self.rng.choice(ends[:index])) for index in range(1, len(ends))}
            pairs = [pair for pair in pairs if pair in tree or self.rng.random() < 0.3]
        for one, other in pairs:
            if self.rng.random() < 0.5:
                self.route(one, other, "YES", gateways)
            else:
                self.route(one, other, "NO", gateways)
                self.route(other, one, "NO", gateways)
        if routing == "Full" and gateways is None:
            for end in ends:
                if self.rng.random() < 0.3:
                    self.route(end, end, "NO", None)

    def route(self, src: str, dst: str, symmetrical: str, gateways: dict[str, list[str]] | None) -> None:
        tag, more = "route", ""
        if gateways is not None:
            near, far = self.rng.choice(gateways[src]), self.rng.choice(gateways[dst])
            tag, more = "zoneRoute", f' gw_src="{near}" gw_dst="{far}"'
        links = "".join(
            f'<link_ctn id="{name}"' + (f' direction="{self.rng.choice(["UP", "DOWN"])}"' if duplex else "") + "/>"
            for name, duplex in self.rng.sample(self.links, self.rng.randint(1, 3))
        )
        self.lines.append(f'<{tag} src="{src}" dst="{dst}"{more} symmetrical="{symmetrical}">{links}</{tag}>')
