"""The rules of imports as a contract of import-linter: ``lint-imports`` enforces the table itself, without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from importlinter import Contract, ContractCheck, output

from tests.imports.graph import modules
from tests.imports.law import EXCEPTIONS, faults

if TYPE_CHECKING:
    from grimp import ImportGraph


class AllowListContract(Contract):
    """Every module imports only those named by its rule in :data:`tests.imports.law.LAW`.

    The source files are read instead of the graph that import-linter gives, because that graph has neither single names
    (``random.Random``) nor calls of ``__import__``.
    """

    type_name = "allow_list"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check all modules of our packages."""
        ours = modules()
        found = [
            str(fault)
            for module, path in sorted(ours.items())
            for fault in faults(module, path.read_text(), ours, path.name == "__init__.py")
            if (fault.module, fault.target) not in EXCEPTIONS
        ]
        return ContractCheck(kept=not found, metadata={"faults": found})

    def render_broken_contract(self, check: Any) -> None:
        """Print one line for each import that is denied."""
        for fault in check.metadata["faults"]:
            output.print_error(fault)
