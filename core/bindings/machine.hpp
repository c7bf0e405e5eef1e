// Machines of Python as those of the core.
#pragma once
#include <nanobind/nanobind.h>

#include "book/machine.hpp"

namespace spillway::bindings {

namespace nb = nanobind;

/// The columns of a machine (`spillway.schedulers.model.machine.Machine`) under rules of placement
/// (`Placement`, or None for the default); a ValueError for one that is too large.
MachinePtr machine_of(nb::handle machine, nb::handle placement);

/// A storage order of Python's.
StorageOrder storage_order_of(nb::handle order);

/// Counted pools of Python (`CountedPool`).
std::vector<Pool> pools_of(nb::handle pools);

/// What a machine was made of: Python's machine, and its rules of placement.
nb::object python_machine(const Machine& machine);
nb::object python_placement(const Machine& machine);

/// The same rules of placement with another machine of Python.
PayloadPtr source_of(nb::handle machine, nb::handle placement);

}  // namespace spillway::bindings
