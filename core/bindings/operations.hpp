// Operations as Python's job models yield them.
#pragma once

#include "bindings/python_types.hpp"
#include "session/operation.hpp"

namespace spillway::bindings {

/// A profile that is a dict.
struct DictProfile final : Description {
  explicit DictProfile(nb::object members);
  nb::object dict;

  Work work() const override;
};

/// The dict of a profile: its own, or that of a transfer.
nb::object dict_of(const Description& profile);

/// A callable of Python.
struct CallHook final : Hook {
  explicit CallHook(nb::object it) : callable(std::move(it)) {}
  nb::object callable;
  void operator()(double now_s) override { callable(now_s); }
};

/// A computation, with the objects that it was made of; `profile` is set when it is yielded.
struct GivenCompute final : Compute {
  nb::object dict;
  nb::object turn;
};

/// Read an operation; TypeError for anything else.
void read(nb::handle yielded, nb::handle job, Operation& operation);

}  // namespace spillway::bindings
