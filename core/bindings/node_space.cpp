#include "search/node_space.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "book/holdings.hpp"
#include "book/timeline.hpp"
#include "session/queue.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Set = Table<const std::int64_t>;
using Sets = nb::ndarray<const std::int64_t, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
using Counts = nb::ndarray<std::int64_t, nb::shape<3, -1>, nb::c_contig, nb::device::cpu>;
using Pairs = Table<std::int64_t, 5>;
using Rules = std::tuple<double, double, double, double, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

NodeSpace::Words words_of_set(const std::int64_t* bits, std::size_t count) {
  return NodeSpace::Words(words_of(bits), words_of(bits) + count);
}

NodeSpace::Words words_of_set(const Set& set) { return words_of_set(set.data(), set.shape(0)); }

nb::object set_of(const NodeSpace::Words& words) {
  const auto* bits = reinterpret_cast<const std::int64_t*>(words.data());
  return array_of(std::vector<std::int64_t>(bits, bits + words.size()));
}

PairTable table_of(const Pairs& pairs, const Table<const double>& durations_s,
                   const Table<std::int64_t>& waiting) {
  return {reinterpret_cast<PairRow*>(pairs.data()), static_cast<std::int64_t>(pairs.shape(0)),
          durations_s.data(), waiting.data()};
}

PlanRules rules_of(const Rules& rules) {
  const auto& [now_s, resolution_s, until_s, linear_s, of_set, of_user, reserved, each, up, windows,
               starts] = rules;
  return {now_s,    resolution_s, until_s, linear_s,     of_set,     of_user,
          reserved, each != 0,    up != 0, windows != 0, starts != 0};
}

/// A backfill pass: the arrays of its results.
struct PlanPass {
  Pairs pairs;
  Table<const double> durations_s;
  Table<std::int64_t> waiting;
  Table<double> unreserved_s, starts_s;
  Counts counts;
  PlanRules rules;

  PairTable table() const { return table_of(pairs, durations_s, waiting); }
  NodeSpace::Pass results() const {
    return {unreserved_s.data(), starts_s.data(), counts.data(),
            static_cast<std::int64_t>(counts.shape(1))};
  }
};

void stack(NodeSpace& self, const Sets& held, const Table<const double>& ends_s,
           const Table<const std::int64_t>& numbers, std::int64_t ended,
           const std::vector<std::tuple<double, double, double, Set>>& windows) {
  std::vector<NodeSpace::Leaving> running;
  for (std::size_t job = 0; job < held.shape(0); job++) {
    const std::int64_t* nodes = held.data() + job * held.shape(1);
    running.push_back(
        {ends_s.data()[job], numbers.data()[job], words_of_set(nodes, held.shape(1))});
  }
  std::vector<NodeSpace::Window> gone;
  for (const auto& [begin_s, end_s, again_s, nodes] : windows) {
    gone.push_back({begin_s, end_s, again_s, words_of_set(nodes)});
  }
  self.stack(running, ended, std::move(gone));
}

nb::list reserved(const NodeSpace& self) {
  nb::list found;
  const std::vector<double>& times = self.times();
  for (std::size_t segment = 0; segment < times.size(); segment++) {
    const double end_s = segment + 1 < times.size() ? times[segment + 1] : NEVER;
    found.append(nb::make_tuple(times[segment], end_s,
                                set_of(self.free(static_cast<std::int64_t>(segment)))));
  }
  return found;
}

nb::tuple pair_columns(nb::handle jobs, bool partitioned) {
  std::vector<std::int64_t> numbers, cells;
  std::vector<double> walltimes_s;
  std::unordered_map<std::string, std::int64_t> users;
  std::int64_t place = 0;
  const auto add_job = [&](const Job& job) {
    numbers.push_back(job.number);
    const bool asks = std::any_of(job.pools.begin(), job.pools.end(),
                                  [](std::int64_t amount) { return amount != 0; });
    const std::int64_t flags =
        (asks ? PAIR_CALLER : 0) | (job.bb_bytes > 0 ? PAIR_BUFFER : std::int64_t(0));
    const std::int64_t user = users.emplace(job.user, users.size()).first->second;
    const auto add = [&](std::int64_t set) {
      cells.insert(cells.end(), {place, job.nodes, set, user, flags});
      walltimes_s.push_back(job.walltime_s);
    };
    if (!partitioned) add(0);
    if (partitioned)
      for (const std::int32_t partition : job.partitions) add(partition + 1);
    place++;
  };
  if (nb::isinstance<Waiting>(jobs)) {
    const Waiting& waiting = nb::cast<const Waiting&>(jobs);
    for (std::size_t at = waiting.first; at < waiting.end; at++)
      if (const JobPtr& job = waiting.line->jobs[at]) add_job(*job);
  } else {
    for (const nb::handle job : nb::iter(jobs)) add_job(nb::cast<const Job&>(job));
  }
  const std::size_t pairs = walltimes_s.size();
  return nb::make_tuple(array_of(std::move(numbers)), int_table(std::move(cells), pairs, 5),
                        array_of(std::move(walltimes_s)));
}

/// A time as Slurm stores it: the last whole second.
double whole_s(double time_s) {
  constexpr double EXACT_S = 1e-6;  // times that differ by less are the same instant
  return time_s < NEVER ? std::floor(time_s + EXACT_S) : time_s;
}

/// Whether a job has released its counted pools but still has its nodes: Slurm's state COMPLETING.
bool has_ended(const Running& running) {
  return !running.apart.empty() &&
         std::none_of(running.apart.begin(), running.apart.end(),
                      [](const HoldingPtr& part) { return part->kinds & POOLS; });
}

nb::tuple leaving_nodes(nb::handle jobs, std::size_t words, nb::handle longer_s) {
  struct Part {
    double end_s;
    std::int64_t number;
    const Allocation* nodes;
  };
  std::vector<Part> parts;
  const bool any_longer = nb::len(longer_s) > 0;
  for (const nb::handle item : nb::iter(jobs)) {
    const Running& running = nb::cast<const Running&>(item);
    const bool ended = has_ended(running);
    double more_s = 0.0;
    if (any_longer)
      more_s = nb::cast<double>(longer_s.attr("get")(item.attr("job").attr("name"), 0.0));
    const auto add = [&](Kinds kinds, const AllocationPtr& held, double end_s) {
      if (!(kinds & NODES) || held->nodes.empty()) return;
      parts.push_back({ended ? -NEVER : whole_s(end_s + more_s), running.job->number, held.get()});
    };
    if (running.apart.empty()) add(ALL_KINDS, running.allocation, running.end_s);
    for (const HoldingPtr& part : running.apart) add(part->kinds, part->allocation, part->end_s);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.end_s, a.number) < std::tie(b.end_s, b.number);
  });
  std::vector<std::int64_t> cells(parts.size() * words), numbers;
  std::vector<double> ends_s;
  for (std::size_t row = 0; row < parts.size(); row++) {
    std::uint64_t* bits = words_of(cells.data() + row * words);
    for (const std::int32_t node : parts[row].nodes->nodes) bits[node >> 6] |= bit_of(node);
    ends_s.push_back(parts[row].end_s);
    numbers.push_back(parts[row].number);
  }
  return nb::make_tuple(int_table(std::move(cells), parts.size(), words),
                        array_of(std::move(ends_s)), array_of(std::move(numbers)));
}

nb::object node_sets(const Timeline& timeline) {
  const Machine& machine = *timeline.machine();
  const Facts& facts = machine.facts();
  std::vector<std::int32_t> all(static_cast<std::size_t>(facts.nodes));
  std::iota(all.begin(), all.end(), 0);
  std::vector<NodeSpace::Words> sets{machine.bits(all)};
  for (const std::vector<std::int32_t>& nodes : facts.partitions)
    sets.push_back(machine.bits(nodes));
  const std::size_t plain = sets.size();
  for (const Pool& pool : facts.pools) {
    if (pool.mode != 0) continue;
    const NodeSpace::Words through = machine.bits(pool.nodes);
    for (std::size_t set = 0; set < plain; set++) {
      sets.push_back(sets[set]);
      for (std::size_t word = 0; word < through.size(); word++) sets.back()[word] &= through[word];
    }
  }
  std::vector<std::int64_t> cells;
  for (const NodeSpace::Words& words : sets) {
    for (const std::uint64_t word : words) cells.push_back(static_cast<std::int64_t>(word));
  }
  return nb::cast(int_table(std::move(cells), sets.size(), sets[0].size()));
}

}  // namespace

void bind_node_space(nb::module_& module) {
  nb::class_<PlanPass>(module, "PlanPass")
      .def(
          "__init__",
          [](PlanPass* self, Pairs pairs, Table<const double> durations_s,
             Table<std::int64_t> waiting, Table<double> unreserved_s, Table<double> starts_s,
             Counts counts, const Rules& rules) {
            new (self) PlanPass{pairs,    durations_s, waiting,        unreserved_s,
                                starts_s, counts,      rules_of(rules)};
          },
          nb::arg("pairs").noconvert(), nb::arg("durations_s"), nb::arg("waiting").noconvert(),
          nb::arg("unreserved_s").noconvert(), nb::arg("starts_s").noconvert(),
          nb::arg("counts").noconvert(), nb::arg("rules"));

  nb::class_<NodeSpace>(module, "NodePlan")
      .def(
          "__init__",
          [](NodeSpace* self, double now_s, const Sets& sets, const Set& usable, const Set& idle) {
            std::vector<NodeSpace::Words> all;
            for (std::size_t set = 0; set < sets.shape(0); set++) {
              all.push_back(words_of_set(sets.data() + set * sets.shape(1), sets.shape(1)));
            }
            new (self) NodeSpace(now_s, std::move(all), words_of_set(usable), words_of_set(idle));
          },
          nb::arg("now_s"), nb::arg("sets"), nb::arg("usable"), nb::arg("idle"))
      .def_prop_ro("idle", [](const NodeSpace& self) { return set_of(self.idle()); })
      .def_prop_ro("chosen", [](const NodeSpace& self) { return set_of(self.chosen()); })
      .def_prop_ro("is_stacked", &NodeSpace::is_stacked)
      .def_prop_ro("asks", &NodeSpace::asks)
      .def("reserved", &reserved)
      .def(
          "choose", [](NodeSpace& self, const Set& nodes) { self.choose(words_of_set(nodes)); },
          nb::arg("nodes"))
      .def(
          "prefer", [](NodeSpace& self, const Set& nodes) { self.prefer(words_of_set(nodes)); },
          nb::arg("nodes"))
      .def(
          "consecutive",
          [](NodeSpace& self, const Set& nodes, std::int64_t count) {
            self.consecutive(words_of_set(nodes), count);
            return set_of(self.chosen());
          },
          nb::arg("nodes"), nb::arg("count"))
      .def("stack", &stack, nb::arg("held"), nb::arg("ends_s"), nb::arg("numbers"),
           nb::arg("ended"), nb::arg("windows"))
      .def(
          "occupy", [](NodeSpace& self, const Set& nodes) { self.occupy(words_of_set(nodes)); },
          nb::arg("nodes"))
      .def(
          "take",
          [](NodeSpace& self, const Set& nodes, double end_s, std::int64_t number) {
            self.take(words_of_set(nodes), end_s, number);
          },
          nb::arg("nodes"), nb::arg("end_s"), nb::arg("number"))
      .def(
          "main",
          [](NodeSpace& self, const Pairs& pairs, const Table<std::int64_t>& waiting,
             const Table<std::int64_t>& ended, const Table<std::int64_t>& nodes, std::int64_t asks,
             std::int64_t depth, std::int64_t pair) {
            const PairTable table{reinterpret_cast<PairRow*>(pairs.data()),
                                  static_cast<std::int64_t>(pairs.shape(0)), nullptr,
                                  waiting.data()};
            return self.main(table, ended.data(), words_of(nodes.data()), asks, depth, pair);
          },
          nb::arg("pairs").noconvert(), nb::arg("waiting").noconvert(),
          nb::arg("ended").noconvert(), nb::arg("nodes").noconvert(), nb::arg("asks"),
          nb::arg("depth"), nb::arg("pair"))
      .def(
          "backfill",
          [](NodeSpace& self, const PlanPass& pass, std::int64_t pair) {
            return self.backfill(pass.table(), pass.results(), pass.rules, pair);
          },
          nb::arg("plan_pass"), nb::arg("pair"))
      .def(
          "plan",
          [](NodeSpace& self, const PlanPass& pass, std::int64_t pair, double not_before_s,
             double gone_s) {
            const double found_s =
                self.plan(pass.table(), pass.results(), pass.rules, pair, not_before_s, gone_s);
            pass.unreserved_s.data()[pair] = -NEVER;  // not searched from the present on
            return found_s;
          },
          nb::arg("plan_pass"), nb::arg("pair"), nb::arg("not_before_s"), nb::arg("gone_s"))
      .def(
          "keep",
          [](NodeSpace& self, const PlanPass& pass, std::int64_t pair, double start_s) {
            return self.keep(pass.table(), pass.results(), pass.rules, pair, start_s);
          },
          nb::arg("plan_pass"), nb::arg("pair"), nb::arg("start_s"))
      .def(
          "keep_started",
          [](NodeSpace& self, const PlanPass& pass, std::int64_t pair, const Set& nodes) {
            self.keep_started(pass.table(), pass.rules, pair, words_of_set(nodes));
          },
          nb::arg("plan_pass"), nb::arg("pair"), nb::arg("nodes"));

  module.def("pair_columns", &pair_columns, nb::arg("jobs"), nb::arg("partitioned"));
  module.def("leaving_nodes", &leaving_nodes, nb::arg("running"), nb::arg("words"),
             nb::arg("longer_s"));
  module.def("node_sets", &node_sets, nb::arg("timeline"));

  module.attr("PAIR_CALLER") = PAIR_CALLER;
  module.attr("PAIR_WITHOUT") = PAIR_WITHOUT;
  module.attr("PAIR_STAGING") = PAIR_STAGING;
  module.attr("PAIR_NOW_ONLY") = PAIR_NOW_ONLY;
  module.attr("PAIR_OVERLAPPING") = PAIR_OVERLAPPING;
  module.attr("PAIR_BUFFER") = PAIR_BUFFER;
}

}  // namespace spillway::bindings
