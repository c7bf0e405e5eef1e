"""A site's own files into its description: their contents, assumptions for missing ones, refused ones.

The files of the small site are in ``tests/data/site``: 16 nodes in three partitions, accounts below ``science``, two
licences; ``imported.toml`` was compared with them by hand.
"""

import itertools
import json
import random
import re
import tempfile
import tomllib
from pathlib import Path

import pytest

from spillway.base.errors import InputError
from spillway.base.files import parse_toml
from spillway.experiments.cli import main
from spillway.experiments.site.site_import import imported, imported_texts
from spillway.schedulers.model.preemption import Preemption
from spillway.schedulers.model.site import Association, License, Partition, Site, Weights, parse_site, site_text
from spillway.schedulers.model.site_parts import Buffers, Layer, Limits, Resource
from spillway.schedulers.site_file import read_site, site_of
from tests.kit.cases import cases

DATA = Path(__file__).parents[2] / "data" / "site"
FILES = [
    DATA / name
    for name in (
        "partitions.txt", "nodes.txt", "reservations.txt", "licenses.txt", "assoc.txt", "users.txt", "qos.txt",
        "slurm.conf", "burst_buffer.conf", "resources.yaml",
    )
]  # fmt: skip
DAY_S = 86_400.0


def of(*files: Path, cluster: str = "") -> tuple[Site, list[str]]:
    """The site of some files, through the text of its description, and the printed lines."""
    found = imported(files, cluster)
    return site_of(parse_toml(found.text), "x"), found.said


@pytest.fixture(scope="module")
def small() -> Site:
    """The small site of all its files."""
    return of(*FILES)[0]


def test_the_small_site():
    """All of it, as ``imported.toml`` has it: login1 is in no partition, a draining partition takes no jobs; MinNodes 0
    is 1; the tree of accounts by ParentName; the controller's count of licences before slurm.conf's 25; base loads
    summed; a weekly reservation recurs after seven days; minutes, days-hours and microseconds as Slurm counts them."""
    lines = [line for line in imported(FILES).text.splitlines() if line and not line.startswith("#")]
    assert lines == (DATA / "imported.toml").read_text().splitlines()


def test_partitions_and_nodes_that_are_out(tmp_path: Path):
    """A description is for months of jobs, the state of a node is that of a moment: nodes that are down or drained are
    played, and named; those that are powered down to save energy are not out. A partition that takes no jobs is named
    with its state."""
    states = ("IDLE", "DOWN*+DRAIN", "IDLE+DRAIN", "IDLE+POWERED_DOWN", "MIXED")
    nodes = "".join(f"NodeName=n{i} CPUAlloc=0 State={one} Partitions=p\n" for i, one in enumerate(states, start=1))
    parts = "PartitionName=p Nodes=n[1-5] State=UP\nPartitionName=q Nodes=n[1-5] State=DRAIN\n"
    site, said = of(write(tmp_path / "nodes.txt", nodes), write(tmp_path / "partitions.txt", parts))
    assert [partition.accepting for partition in site.partitions] == [True, False]
    assert site.nodes == 5
    assert "partition q: State=DRAIN: it takes no jobs" in said
    assert (
        "nodes n[2-3] were down or drained: they are played as up (--maintenance and --events say when nodes are out)"
        in said
    )


@pytest.mark.parametrize(("stated", "count"), [("gpu:4", 4), ("gpu:a100:2(S:0-1),gpu:v100:1(S:1),mps:100", 3),
                                               ("gpu", 1), ("craynetwork:4", 0)])  # fmt: skip
def test_gpus_of_a_node(tmp_path: Path, stated: str, count: int):
    """Kinds are added up; brackets state sockets; other resources are no GPUs."""
    node = write(tmp_path / "nodes.txt", f"NodeName=n1 CPUAlloc=0 Gres={stated} Partitions=p\n")
    assert sum(kind.count for kind in of(node)[0].gpus) == count


def test_the_order_of_the_files_does_not_matter(small: Site):
    """Any rotation of them gives the same site, and the same bytes for the same order."""
    for turn in range(1, len(FILES)):
        assert of(*FILES[turn:], *FILES[:turn])[0] == small
    assert imported(FILES) == imported(FILES)


def test_all_of_it_reaches_the_setting(small: Site):
    """The compact text of the imported site reads as the same site."""
    assert parse_site(site_text(small)) == small


MISSING = {
    "nodes.txt": ("no 'scontrol show node -o': the nodes are those of the partitions", lambda site: site.nodes == 16),
    "assoc.txt": ("no associations .*: users are equal siblings", lambda site: site.associations == ()),
    "qos.txt": ("no QOS .*: the QOS that jobs name have no priority", lambda site: site.qos == ()),
    "reservations.txt": ("no reservations .*: the site has no reservations", lambda site: site.reservations == ()),
    "slurm.conf": ("all weights are 0, Slurm's default", lambda site: site.weights == Weights()),
    "burst_buffer.conf": ("no burst_buffer.conf", lambda site: site.buffers == Buffers("lua")),
    "resources.yaml": ("no resources.yaml: the site has no hierarchical", lambda site: site.resources == ()),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_file_is_named_and_assumed(name: str):
    """On the screen and as a comment of the description."""
    found = imported([path for path in FILES if path.name not in (name, "users.txt")])
    words, holds = MISSING[name]
    assert [line for line in found.said if re.search(f"^ASSUMED: .*{words}", line)]
    assert "# ASSUMED: " in found.text
    assert holds(site_of(parse_toml(found.text), "x"))


def test_without_partitions_and_nodes():
    """One partition of all nodes that the machine has; with slurm.conf its lines."""
    site, said = of(DATA / "assoc.txt")
    assert (site.nodes, site.partitions) == (0, ())
    assert "ASSUMED: no partitions (scontrol show partition -o): one of all nodes, without limits" in said
    site, _ = of(DATA / "slurm.conf")
    assert [(partition.name, partition.nodes, partition.longest_s) for partition in site.partitions] == [
        ("standard", "0-11", DAY_S),
        ("gpu", "12-15", None),
    ]
    assert (site.nodes, site.licenses) == (16, (License("matlab", 25),))


def test_lines_of_slurm_conf(tmp_path: Path):
    """Values of DEFAULT hold for the lines below it; names of nodes with several numbers; other needed files."""
    conf = write(
        tmp_path / "slurm.conf",
        "ClusterName=c\nInclude nodes.conf\nNodeName=r[1-2]n[0-1] CPUs=1\nPartitionName=DEFAULT MaxTime=60 State=UP\n"
        "PartitionName=a Nodes=ALL TRESBillingWeights=CPU=1.0\nPartitionName=DEFAULT MaxTime=30 PriorityTier=3\n"
        "PartitionName=b Nodes=r2n[0-1] MaxTime=5\nPartitionName=empty\n",
    )
    site, said = of(conf)
    assert site.partitions == (Partition("a", longest_s=3600.0), Partition("b", "2-3", 3, longest_s=300.0))
    assert site.nodes == 4
    assert f"{conf} includes nodes.conf: name that file, too, unless scontrol shows its contents" in said
    assert "partition empty has no nodes: left out" in said
    assert any("TRESBillingWeights=CPU=1.0 is not kept" in line for line in said)
    included = write(tmp_path / "nodes.conf", "NodeName=r3n[0-1] CPUs=1\n")
    assert of(conf, included)[0].nodes == 6
    assert of(conf, included)[0].name == "c"


@pytest.mark.parametrize(
    ("text", "over_s", "wait_s"),
    [
        ("", 0.0, 30.0),
        ("KillWait=60\nOverTimeLimit=5\n", 300.0, 60.0),
        ("KillWait                = 45 sec\nOverTimeLimit           = 2 min\n", 120.0, 45.0),
        ("OverTimeLimit=UNLIMITED\n", "unlimited", 30.0),
    ],
)
def test_times_of_kills(tmp_path: Path, text: str, over_s: float | str, wait_s: float):
    """OverTimeLimit is in minutes, KillWait in seconds, 30 by default; both were named as not kept."""
    line = "PartitionName=a Nodes=n[1-2] OverTimeLimit=9\n"
    site, said = of(write(tmp_path / "slurm.conf", "ClusterName=c\n" + text + line))
    assert (site.scheduler.over_time_limit_s, site.scheduler.kill_wait_s) == (over_s, wait_s)
    assert "partition a: OverTimeLimit=9 is not kept: that of slurm.conf holds for all partitions" in said
    assert not [words for words in said if words.startswith(("KillWait", "OverTimeLimit"))]


def write(path: Path, text: str) -> Path:
    """A file with a text."""
    path.write_text(text)
    return path


ASSOC = "Cluster|Account|User|Share\n"


def test_trees_of_accounts(tmp_path: Path):
    """By blanks before names ('tree'), else flat, which is said; a parent's share is one; accounts that are missing."""
    tree = write(tmp_path / "tree", f"{ASSOC}c|root||1\nc| a||2\nc|  b||3\nc|  b|u|1\nc| d||1\n")
    site, said = of(tree)
    assert [(association.account, association.user, association.parent) for association in site.associations] == [
        ("a", "", ""),
        ("b", "", "a"),
        ("b", "u", ""),
        ("d", "", ""),
    ]
    flat = write(tmp_path / "flat", f"{ASSOC}c|root||1\nc|a||2\nc|b||3\nc|b|u|parent\n")
    site, said = of(flat)
    assert any(line.startswith("ASSUMED: all accounts are below the root") for line in said)
    assert "u: Fairshare=parent is taken as 1 share among its siblings" in said
    site, said = of(write(tmp_path / "users", f"{ASSOC}c|b|u|5\n"))
    assert site.associations == (Association("b"), Association("b", "u", shares=5, default=True))
    assert any("account b has no association of its own" in line for line in said)


def test_associations_of_single_partitions(tmp_path: Path):
    """Their limits hold there only, wherever they stand: were the user's everywhere if they came first."""
    text = "Account|User|Partition|Share|MaxJobs\na|||1|\na|u|gpu|1|1\na|u||3|5\na|v|gpu|1|1\n"
    site, said = of(write(tmp_path / "assoc", text))
    users = {one.user: (one.shares, one.limits.user_jobs) for one in site.associations if one.user}
    assert users == {"u": (3, 5), "v": (1, None)}
    assert "2 associations of single partitions are not kept: those of the account count" in said


def test_limits_of_the_cluster_are_named(tmp_path: Path):
    """They are at the account above all, which is no association of ours."""
    text = "Cluster|Account|User|Share|GrpTRES\nc|root||1|node=8\nc|a||1|\n"
    assert "limits of the whole cluster (account root) are not kept" in of(write(tmp_path / "assoc", text))[1]


def test_several_clusters(tmp_path: Path):
    """One has to be chosen: by --cluster, or by slurm.conf's own name."""
    path = write(tmp_path / "assoc", f"{ASSOC}c|a||2\nd|b||3\n")
    with pytest.raises(InputError, match="associations of clusters c, d; expected one: --cluster NAME"):
        of(path)
    assert of(path, cluster="d")[0].associations == (Association("b", shares=3),)
    assert of(path, write(tmp_path / "conf", "ClusterName=c\n"))[0].associations == (Association("a", shares=2),)


def test_hierarchical_resources_as_the_controller_shows_them(tmp_path: Path):
    """'scontrol show lic' has an entry for each layer; only leaves of mode 3 keep nodes."""
    text = (
        "LicenseName=power Total=35 Used=0 Free=35 Reserved=0 Remote=no LayerName=rack1 ParentName=row Nodes=n[1-2] "
        "Mode=3 DisableHRES=false DisableLayer=false ConfTotal=40 BaseUsage=5 Base=storage:5\n"
        "LicenseName=power Total=55 Used=0 Free=55 Reserved=0 Remote=no LayerName=row ParentName=(null) Nodes=n[1-2] "
        "Mode=3 DisableHRES=false DisableLayer=false ConfTotal=60 BaseUsage=5 Base=(null)\n"
    )
    nodes = write(tmp_path / "nodes", "NodeName=n1 CPUAlloc=0 Partitions=p\nNodeName=n2 CPUAlloc=0 Partitions=p\n")
    site, _ = of(write(tmp_path / "lic", text), nodes)
    yaml = (
        "- resource: power\n  mode: MODE_1\n  layers:\n    - layer_name: all\n      nodes: [n1, n2]\n      count: 9\n"
    )
    yaml += "    - layer_name: none\n      count: 4\n"
    assert of(write(tmp_path / "yaml", yaml), tmp_path / "lic", nodes)[0].resources == (
        Resource("power", 1, (Layer("all", "0-1", 9),)),
    )
    assert site.resources == (Resource("power", 3, (Layer("rack1", "0-1", 40, "row", 5), Layer("row", "", 60))),)


def test_parameters_of_preemption(tmp_path: Path):
    """Those in Slurm's separate option join the others of the scheduler, as in its older releases."""
    lines = "ClusterName=c\nPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nPreemptParameters=youngest_first\n"
    site, _ = of(*FILES[:2], write(tmp_path / "slurm.conf", lines))
    found = site.scheduler
    assert (found.preempt, found.preempts, found.others) == ("partition_prio", "requeue", ("preempt_youngest_first",))
    assert Preemption(site).youngest_first


def test_a_configuration_in_several_files(tmp_path: Path):
    """Statements of an included file join those of the including file, in any order of the files."""
    first = write(tmp_path / "slurm.conf", "ClusterName=c\nSchedulerParameters=bf_interval=45\nPriorityWeightAge=7\n")
    second = write(tmp_path / "more.conf", "AccountingStorageEnforce=limits,qos\nPriorityWeightQOS=9\n")
    for files in ((first, second), (second, first)):
        site, said = of(*FILES[:2], *files)
        assert (site.weights.age, site.weights.qos) == (7, 9)
        assert (site.scheduler.bf_interval_s, site.scheduler.enforce) == (45.0, ("limits", "qos"))
        assert not any("enforces no limits" in line for line in said)


@pytest.mark.parametrize("line", ["", "AccountingStorageEnforce=associations,qos", "AccountingStorageEnforce = none"])
def test_limits_that_are_not_enforced(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]):
    """Without a word in AccountingStorageEnforce Slurm enforces no limits; import and show report that."""
    qos = write(tmp_path / "qos.txt", "Name|Priority|MaxJobsPU|Flags\nnormal|0|2|NoReserve\ngpu|0||\nlong|0||\n")
    site, said = of(*FILES[:2], qos, write(tmp_path / "slurm.conf", f"ClusterName=c\n{line}\n"))
    assert site.qos[0].limits == Limits(user_jobs=2)
    assert not site.scheduler.enforces_limits
    assert (
        "the site enforces no limits (AccountingStorageEnforce): those of associations and QOS are not played" in said
    )
    assert of(*FILES[:2], qos)[0].scheduler.enforces_limits
    assert main(["site", "show", str(write(tmp_path / "site.json", site_text(site)))]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "not played yet: limits, which the site does not enforce (AccountingStorageEnforce)" in shown
    assert "not played yet: flags of QOS" in shown


def test_who_else_may_not_use_a_partition(tmp_path: Path):
    """Groups of users are not known; a reservation that moves or attracts jobs is not played so."""
    partition = "PartitionName=p Nodes=n[1-2] TotalNodes=2 AllowGroups=staff RootOnly=YES ReqResv=YES Priority=7\n"
    reservation = (
        "ReservationName=r StartTime=2026-01-02T00:00:00 EndTime=2026-01-03T00:00:00 Nodes=n1 Flags=MAGNETIC,MAINT\n"
    )
    site, said = of(write(tmp_path / "p", partition), write(tmp_path / "r", reservation))
    assert not site.partitions[0].accepting
    assert (site.partitions[0].tier, site.partitions[0].factor) == (7, 7)  # older lines of slurm.conf: both
    assert "partition p: ReqResv is not kept: jobs may run there without a reservation" in said
    assert "partition p: AllowGroups=staff is not kept: any user may use it" in said
    assert "partition p: RootOnly: it takes no jobs" in said
    assert "reservation r: its flag MAGNETIC is not played" in said


def test_nothing_configured_is_a_statement(tmp_path: Path):
    """A statement that a kind is empty leaves nothing to be assumed."""
    none = write(tmp_path / "a", "No reservations in the system\n"), write(tmp_path / "b", "No licenses configured\n")
    _, said = of(*FILES[:2], *none)
    assert not any("reservations" in line or "licences" in line for line in said if line.startswith("ASSUMED"))


@pytest.mark.parametrize(("text", "error"), cases("slurm-import"))
def test_wrong_files_are_refused_with_their_place(tmp_path: Path, text: str, error: str):
    """The file, the line or place, the expected and the actual value."""
    with pytest.raises(InputError, match=error):
        imported([write(tmp_path / "file", text)])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Text on the standard output, or into a new file; notes on the error stream."""
    names = [str(path) for path in FILES]
    assert main(["site", "import", *names]) == 0
    captured = capsys.readouterr()
    assert parse_toml(captured.out)["name"] == "small"
    assert "slurm.conf: read as slurm.conf" in captured.err
    out = tmp_path / "site.toml"
    assert main(["site", "import", *names, "--out", str(out)]) == 0
    assert out.read_text() == captured.out
    assert main(["site", "import", *names, "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert read_site(out).nodes == 16


def test_show(capsys: pytest.CaptureFixture[str]):
    """What differs from the defaults, under the file's keys; node counts, normalised shares; what is not played."""
    assert main(["site", "show", str(DATA / "small.toml")]) == 0
    lines = capsys.readouterr().out.splitlines()

    def row(name: str) -> list[str]:
        return next([cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith(f"│ {name}"))

    assert row("long") == ["long", "4", "7 d", "–", "no", "2", "2", "–", "–"]
    assert row("gpu")[-2:] == ["gpu", "physics"]
    assert row("maintenance") == ["maintenance", "2026-12-01 08:00:00", "12 h", "16", "MAINT"]
    assert row("physics")[:3] == ["physics", "3", "0.7500"]
    assert row("  bob")[2] == "0.2500"
    assert row("rack") == ["rack", "2", "name all, nodes 0-15, count 24; name low, nodes 0-7, count 12"]
    assert row("matlab") == ["matlab", "30"]
    assert "priority: age 1000, fairshare 10000, tres node=500" in lines
    assert not any("hierarchical" in line for line in lines if line.startswith("not played yet"))
    assert not any("licences" in line for line in lines if line.startswith("not played yet"))
    assert not any("jobs may use any node" in line for line in lines)


def test_show_says_what_a_reservation_keeps(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Licences, burst buffers and users of a reservation: without these lines a user cannot see that they were read."""
    text = (
        "nodes = 4\n[[reservation]]\nname = 'r'\nstart = 2026-12-01T08:00:00\nlength_s = 60\nlicenses = { m = 3 }\n"
        "tres = { 'bb/lua' = 5000000000 }\nusers = ['ann']\naccounts = ['lab']\nflags = ['ALL_NODES']\n"
        "[burst_buffer]\ngranularity = 2000000000\n"
    )
    assert main(["site", "show", str(write(tmp_path / "site.toml", text))]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "│ 1 min │ m=3 │ bb/lua=5 GB │ ann │ lab │ ALL_NODES │" in said
    assert "granularity 2 GB" in said


def test_show_says_nothing_of_what_a_site_does_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """An empty site leaves nothing that is not played."""
    path = write(tmp_path / "site.toml", "nodes = 4\n")
    assert main(["site", "show", str(path)]) == 0
    assert "not played" not in capsys.readouterr().out


def test_pairs_of_files():
    """Any two files make a site: no reader needs the results of another one."""
    for pair in itertools.combinations(FILES, 2):
        if {"reservations.txt", "resources.yaml"}.isdisjoint({path.name for path in pair}):
            of(*pair)


def test_damaged_files_are_located():
    """Characters changed, cut out and doubled at random in each file: a description, or one error; nothing else."""
    rng = random.Random(3)
    for path in FILES:
        text = path.read_text()
        for _ in range(30):
            damaged = text
            for _ in range(rng.randint(1, 3)):
                place, length = rng.randrange(len(damaged)), rng.choice((1, 1, 3, 40))
                piece = rng.choice(("", "|", "=", "\n", "x", "-1", "[", " ", damaged[place : place + length] * 2))
                damaged = damaged[:place] + piece + damaged[place + length :]
            try:
                found = imported_text(damaged)
            except InputError as error:
                assert str(error)  # noqa: PT017
            else:
                site_of(parse_toml(found), "x")


def imported_text(text: str) -> str:
    """The description of one file with a text."""
    with tempfile.TemporaryDirectory() as folder:
        return imported([write(Path(folder) / "file", text)]).text


CONF = """ClusterName=z
NodeName=n[1-4] CPUs=4 Feature=big
nodename=DEFAULT Weight=3
NODENAME=m[1-2] Gres=gpu:4
NodeSet=large Feature=big
PartitionName=a Nodes=n[1-2] Default=YES MaxTime=60
PARTITIONNAME=b NODES="m[1-2]" MAXTIME=120
partitionName=c nodes=large,m1 maxtime=1-0
SelectType=select/cons_tres
"""


def test_keywords_in_any_case_quoted_lists_and_sets_of_nodes() -> None:
    """Partitions b and c were lost; what is dropped is named; a cluster that the files do not have is an error."""
    made = imported_texts({"slurm.conf": CONF})
    site = tomllib.loads(made.text)
    assert site["scheduler"]["select"] == "cons_tres"
    found = {entry["name"]: entry["nodes"] for entry in site["partition"]}
    assert found == {"a": "n[1-2]", "b": "m[1-2]", "c": "n[1-4],m1"}
    for words in (
        "Weight of nodes is not kept",
        "Gres of nodes is not kept",
    ):
        assert words in made.said
    with pytest.raises(InputError, match="--cluster NOSUCH: the files are of cluster 'z'"):
        imported_texts({"slurm.conf": CONF}, "NOSUCH")


def test_a_site_without_buffers_gets_none_drawn(tmp_path: Path) -> None:
    """Jobs of a log that states no requests had drawn ones on a site whose slurm.conf names no plugin for buffers."""
    made = imported_texts({"slurm.conf": CONF})
    assert tomllib.loads(made.text)["burst_buffer"] == {"kind": "none"}
    assert not tomllib.loads(imported_texts({"c": "PartitionName=a Nodes=n[1-2]\n"}).text)["burst_buffer"]
    (tmp_path / "site.toml").write_text(made.text)
    (tmp_path / "log.swf").write_text("; MaxProcs: 6\n1 0 10 60 2 -1 -1 2 90 -1 1 1 1 -1 1 -1 -1 -1\n")
    options = ("--site", str(tmp_path / "site.toml"), "-p", "easy", "--no-plots", "--no-replay")
    assert main(["run", str(tmp_path / "log.swf"), *options, "--out", str(tmp_path / "out")]) == 0
    workloads = [json.loads(path.read_text()) for path in (tmp_path / "out" / "inputs").glob("log*.json")]
    assert workloads
    assert all(profile["bb"] == 0 for workload in workloads for profile in workload["profiles"].values())


NODES_ONLY = "ClusterName=c\nNodeName=n[1-4] CPUs=2\n"


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        ("PartitionName=a Nodes=x[1-2],n1\n", "partition a: no NodeName has x[1-2]: taken as nodes of the site"),
        ("PartitionName=a Nodes=ALL\nDownNodes=n[1-2] Reason=disk\n", "DownNodes=n[1-2] State=DOWN: played as up"),
        ("NodeName=n5 State=FUTURE\nPartitionName=a Nodes=ALL\n", "NodeName=n5 State=FUTURE: played as up"),
        ("Include more.conf\nPartitionName=a Nodes=ALL\n", "slurm.conf includes more.conf: name that file, too"),
    ],
)
def test_notes_on_a_configuration(lines: str, note: str) -> None:
    """Nodes that no line defines or that are out; a file that is included and not given."""
    said = "\n".join(imported_texts({"slurm.conf": NODES_ONLY + lines}).said)
    assert note in said
    plain = imported_texts(
        {"slurm.conf": NODES_ONLY + "Include more.conf\n", "etc/more.conf": "PartitionName=a Nodes=n1\n"}
    )
    assert not any("includes" in line or "no NodeName" in line for line in plain.said)
