"""Fixtures: a small machine with durations that can be computed by hand, and every engine that plays parallel tasks."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from spillway.platforms import Platform, load_platform
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.errors import EngineUnavailable
from tests.kit.tasks import FluidEngine, SimgridEngine

HEADER = "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'><platform version='4.1'>"

SMALL = """<zone id='all' routing='Full'>
<host id='one' speed='1Gf,250Mf'/><host id='two' speed='1Gf' core='2'/><host id='far' speed='2Gf'/>
<host id='disk' speed='0f'/>
<link id='near' bandwidth='100MBps' latency='1ms'/>
<link id='wide' bandwidth='100MBps' latency='2ms' sharing_policy='FATPIPE'/>
<link id='long' bandwidth='100MBps' latency='100ms'/>
<route src='one' dst='two'><link_ctn id='near'/></route>
<route src='one' dst='far'><link_ctn id='long'/></route>
<route src='two' dst='far'><link_ctn id='wide'/></route>
<route src='one' dst='disk'><link_ctn id='near'/><link_ctn id='wide'/></route>
<route src='two' dst='disk'><link_ctn id='wide'/></route>
</zone>"""
"""Hosts: one core, two cores, twice the speed, no speed. Loopback links are SimGrid's own: 10 GB/s, not shared."""

ONE, TWO, FAR, DISK = range(4)

EngineMaker = Callable[[str], tuple[Engine, Platform]]


@pytest.fixture(params=["fluid", "simgrid"])
def make_engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EngineMaker]:
    """Make an engine on a platform given as the inside of an XML file."""
    with ExitStack() as stack:

        def make(inside: str) -> tuple[Engine, Platform]:
            path = tmp_path / "platform.xml"
            path.write_text(f"{HEADER}{inside}</platform>")
            platform = load_platform(path)
            if request.param == "fluid":
                fluid = FluidEngine(platform)
                stack.callback(fluid.check)
                return fluid, platform
            try:
                return stack.enter_context(SimgridEngine(path, platform)), platform
            except EngineUnavailable as error:
                pytest.skip(str(error))

        yield make


@pytest.fixture
def engine(make_engine: EngineMaker) -> Engine:
    """An engine on the small machine."""
    return make_engine(SMALL)[0]


@pytest.fixture
def small(tmp_path: Path) -> Platform:
    """The small machine."""
    path = tmp_path / "small.xml"
    path.write_text(f"{HEADER}{SMALL}</platform>")
    return load_platform(path)
