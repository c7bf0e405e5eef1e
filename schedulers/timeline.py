"""CONTRACT (to be implemented): what is free later.

class Resource(enum.Flag): NODES, BURST_BUFFERS, BANDWIDTH; ALL = all three.

class NodeOrder(enum.Enum): FIRST_FIT (lowest index first), SPREAD, PACK   (SPREAD/PACK choose nodes under the links
    with most/least bandwidth left; without links same as FIRST_FIT)
class StorageOrder(enum.Enum): NEAREST (Machine.nearest_storages; thesis's), BY_ID, EMPTIEST, FULLEST

@dataclass(frozen=True) class Placement: node_order, storage_order      (lives in placement.py)

class Fit(NamedTuple): start_s: float; allocation: Allocation

class Timeline:
    '''Step function over time of the whole resource vector. Segments [times[k], times[k+1]); last one is endless.
    Per segment: bitset of free nodes (uint64 words), int64 room per storage node, int64 bandwidth left per link.'''
    def __init__(self, machine: Machine, now_s: float = 0.0, placement: Placement = Placement()) -> None
    now_s: float (property; start of the first segment)
    def copy(self) -> Timeline                       # cheap: array copies
    def snapshot(self) -> Snapshot; def restore(self, snapshot) -> None      # restore exact earlier state
    def advance(self, now_s) -> None                 # forget what lies before now
    def fit_now(self, job, duration_s, covering=Resource.ALL) -> Allocation | None
         # allocation that is free over the whole of [now, now+duration)
    def earliest_fit(self, job, duration_s, not_before_s=None, covering=Resource.ALL) -> Fit | None
         # earliest start among {not_before} and breakpoints >= not_before (None: can never fit). Exact, by identity:
         # a node qualifies only if it is free for the whole window; room of a storage = min over the window;
         # bandwidth of a link = min over the window.
    def reserve(self, start_s, end_s, allocation, covering=Resource.ALL) -> None
         # raises ValueError (with what and when) if it would over-commit; end may be inf
    def release(self, start_s, end_s, allocation, covering=Resource.ALL) -> None   # raises if it would exceed capacity
    def free_nodes_now(self) -> int ; def free_storage_now(self) -> list[int] ; ...
    def check(self) -> None                           # own invariants
"""
