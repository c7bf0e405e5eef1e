#include "book/book.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/estimator.hpp"
#include "bindings/kinds.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

nb::tuple tuple_of(const Holdings& holdings) {
  nb::list found;
  for (const HoldingPtr& one : holdings) found.append(one);
  return nb::tuple(found);
}

bool same(const Holding& one, const Holding& other) {
  return one.kinds == other.kinds && *one.allocation == *other.allocation &&
         one.start_s == other.start_s && one.end_s == other.end_s;
}

bool same(const Holdings& one, const Holdings& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(),
      [](const HoldingPtr& left, const HoldingPtr& right) { return same(*left, *right); });
}

bool same(const Running& one, const Running& other) {
  return one.job->id == other.job->id && one.start_s == other.start_s && one.end_s == other.end_s &&
         *one.allocation == *other.allocation && same(one.apart, other.apart) &&
         same(one.past, other.past);
}

Holdings holdings_of(const nb::sequence& given) {
  Holdings found;
  for (nb::handle one : given) found.push_back(nb::cast<HoldingPtr>(one));
  return found;
}

using Row = std::tuple<std::string, std::string, double, double, double, double, std::int64_t,
                       std::uint8_t, double, double, std::string, std::string>;

Row row_of(const FinishedLog& log, std::size_t place) {
  const FinishedJob& job = log.jobs.at(place);
  const SharedTexts& texts = *log.texts;
  return {job.id,
          texts.at(job.user),
          job.submit_time_s,
          job.start_s,
          job.end_s,
          job.walltime_s,
          job.nodes,
          job.state,
          job.usage.node_s,
          job.usage.byte_s,
          texts.at(job.account),
          texts.at(job.qos)};
}

std::vector<std::pair<std::string, std::pair<double, double>>> usage(
    const Book& book, const std::vector<JobPtr>& queue, double now_s) {
  std::vector<std::pair<std::string, std::pair<double, double>>> found;
  for (const auto& [user, used] : book.usage(queue, now_s))
    found.push_back({user, {used.node_s, used.byte_s}});
  return found;
}

}  // namespace

void bind_book(nb::module_& module) {
  nb::class_<Holding>(module, "Holding")
      .def(
          "__init__",
          [](Holding* self, nb::handle covering, AllocationPtr allocation, double start_s,
             double end_s) {
            new (self) Holding{kinds_of(covering), std::move(allocation), start_s, end_s};
          },
          nb::arg("covering"), nb::arg("allocation"), nb::arg("start_s"), nb::arg("end_s"))
      .def_prop_ro("covering", [](const Holding& self) { return resource_of(self.kinds); })
      .def_ro("allocation", &Holding::allocation)
      .def_ro("start_s", &Holding::start_s)
      .def_ro("end_s", &Holding::end_s)
      .def("__eq__", [](const Holding& self, const Holding& other) { return same(self, other); })
      .def("__eq__", [](const Holding&, nb::handle) { return false; })
      .def("__hash__",
           [](const Holding& self) { return nb::hash(nb::make_tuple(self.start_s, self.end_s)); });

  nb::class_<Running>(module, "Running")
      .def(
          "__init__",
          [](Running* self, JobPtr job, double start_s, double end_s, AllocationPtr allocation,
             nb::sequence apart, nb::sequence past) {
            new (self) Running{std::move(job),     start_s,          end_s, std::move(allocation),
                               holdings_of(apart), holdings_of(past)};
          },
          nb::arg("job"), nb::arg("start_s"), nb::arg("end_s"), nb::arg("allocation"),
          nb::arg("apart") = nb::make_tuple(), nb::arg("past") = nb::make_tuple())
      .def("__eq__", [](const Running& self, const Running& other) { return same(self, other); })
      .def("__eq__", [](const Running&, nb::handle) { return false; })
      .def("__hash__", [](const Running& self) { return nb::hash(nb::str(self.job->id.c_str())); })
      .def_ro("job", &Running::job)
      .def_ro("start_s", &Running::start_s)
      .def_ro("end_s", &Running::end_s)
      .def_ro("allocation", &Running::allocation)
      .def_prop_ro("apart", [](const Running& self) { return tuple_of(self.apart); })
      .def_prop_ro("past", [](const Running& self) { return tuple_of(self.past); })
      .def_prop_ro("holdings", [](const Running& self) {
        if (!self.apart.empty()) return tuple_of(self.apart);
        return tuple_of({std::make_shared<Holding>(
            Holding{ALL_KINDS, self.allocation, self.start_s, self.end_s})});
      });

  nb::class_<FinishedLog>(module, "FinishedLog")
      .def("__len__", [](const FinishedLog& self) { return self.jobs.size(); })
      .def("row", &row_of, nb::arg("place"));

  nb::class_<Book>(module, "Book")
      .def(
          "__init__",
          [](Book* self, std::shared_ptr<Timeline> timeline, nb::object estimator) {
            new (self) Book(std::move(timeline), estimator_of(std::move(estimator)));
          },
          nb::arg("timeline"), nb::arg("estimator").none())
      .def_prop_ro("timeline", &Book::timeline_ptr)
      .def("running_jobs", nb::overload_cast<>(&Book::running, nb::const_))
      .def("find_running", nb::overload_cast<const std::string&>(&Book::running, nb::const_),
           nb::arg("job_id"))
      .def_prop_ro("running_count", &Book::running_count)
      .def("find_held", &Book::held, nb::arg("job_id"))
      .def("held_ids", &Book::held_ids)
      .def_prop_ro("held_count", &Book::held_count)
      .def(
          "holder_of",
          [](const Book& self, std::int32_t node) -> std::optional<std::string> {
            if (node < 0 || node >= self.node_count()) throw nb::index_error("node");
            const JobPtr& job = self.holder(node);
            return job ? std::optional<std::string>(job->id) : std::nullopt;
          },
          nb::arg("node"))
      .def("free_nodes", &Book::free_nodes)
      .def("left_bytes", &Book::left_bytes, nb::arg("storage"))
      .def_prop_ro("nodes_out",
                   [](const Book& self) {
                     static nb::object* const none = new nb::frozenset(nb::tuple());
                     if (self.nodes_out().empty()) return nb::frozenset(*none);
                     return nb::frozenset(nb::cast(self.nodes_out()));
                   })
      .def_prop_ro("storages_out",
                   [](const Book& self) { return nb::frozenset(nb::cast(self.storages_out())); })
      .def_prop_ro("drained",
                   [](const Book& self) {
                     nb::dict found;
                     for (const auto& [storage, size] : self.drained())
                       found[nb::cast(storage)] = size;
                     return found;
                   })
      .def(
          "there",
          [](const Book& self, const Allocation& allocation) {
            return shared(self.there(allocation));
          },
          nb::arg("allocation"))
      .def(
          "parts_of",
          [](const Book& self, const std::string& job_id) -> nb::object {
            const std::optional<Held> held = self.parts_of(job_id);
            if (!held) return nb::none();
            return nb::make_tuple(held->nodes, held->storage, held->links);
          },
          nb::arg("job_id"))
      .def("holds", &Book::holds, nb::arg("job_id"))
      .def("usage_by_user", &usage, nb::arg("queue"), nb::arg("now_s"))
      .def_prop_ro("finished_log",
                   [](const Book& self) {
                     return std::make_tuple(self.accounts.log(), self.accounts.first(),
                                            self.accounts.total());
                   })
      .def_prop_rw(
          "most_finished", [](const Book& self) { return self.accounts.most; },
          [](Book& self, std::size_t most) { self.accounts.most = most; })
      .def(
          "account_end",
          [](Book& self, const Running& running, std::uint8_t state, double now_s) {
            self.accounts.ended(running, state, now_s);
          },
          nb::arg("running"), nb::arg("state"), nb::arg("now_s"))
      .def("hold", &Book::hold, nb::arg("job"), nb::arg("allocation"), nb::arg("now_s"),
           nb::arg("until_s"))
      .def("evict", &Book::evict, nb::arg("job_id"), nb::arg("now_s"))
      .def(
          "keep_buffer",
          [](Book& self, std::string name, AllocationPtr allocation, double since_s) {
            self.keep({std::move(name), std::move(allocation), since_s});
          },
          nb::arg("name"), nb::arg("allocation"), nb::arg("since_s"))
      .def(
          "discard_buffer",
          [](Book& self, const std::string& name, double now_s) { self.discard(name, now_s); },
          nb::arg("name"), nb::arg("now_s"))
      .def("start", &Book::start, nb::arg("job"), nb::arg("allocation"), nb::arg("now_s"))
      .def("end", &Book::end, nb::arg("job_id"), nb::arg("now_s"))
      .def("take_off", &Book::lift, nb::arg("job_id"), nb::arg("now_s"))
      .def("place", &Book::place, nb::arg("job"), nb::arg("allocation"), nb::arg("now_s"))
      .def("expand", &Book::expand, nb::arg("job_id"), nb::arg("gained"), nb::arg("now_s"),
           nb::arg("until_s"))
      .def(
          "give_up",
          [](Book& self, const std::string& job_id, const Nodes& nodes, double now_s,
             double until_s) { self.give_up(job_id, ascending(nodes), now_s, until_s); },
          nb::arg("job_id"), nb::arg("nodes"), nb::arg("now_s"), nb::arg("until_s"))
      .def(
          "give",
          [](Book& self, const std::string& job_id, double now_s, const std::optional<Nodes>& nodes,
             nb::handle covering) -> nb::object {
            Book::GiveBackFault why{};
            const Nodes sorted = nodes ? ascending(*nodes) : Nodes{};
            const RunningPtr changed =
                self.give_back(job_id, now_s, nodes ? &sorted : nullptr, kinds_of(covering), why);
            if (changed) return nb::cast(changed);
            return nb::make_tuple(int(why.code), why.node);
          },
          nb::arg("job_id"), nb::arg("now_s"), nb::arg("nodes").none(), nb::arg("covering"))
      .def("leave", &Book::leave, nb::arg("job_id"), nb::arg("until_s"), nb::arg("now_s"))
      .def(
          "vacate",
          [](const Book& self, Timeline& timeline, const std::string& job_id, double from_s,
             nb::handle kinds) {
            self.vacate(timeline, job_id, from_s, kinds.is_none() ? ALL_KINDS : kinds_of(kinds));
          },
          nb::arg("timeline"), nb::arg("job_id"), nb::arg("from_s"), nb::arg("kinds") = nb::none())
      .def(
          "advance",
          [](Book& self, double now_s, const std::string& ending) {
            self.advance(now_s, ending.empty() ? nullptr : &ending);
          },
          nb::arg("now_s"), nb::arg("ending") = "")
      .def(
          "close",
          [](Book& self, const Nodes& nodes, const Nodes& storages, double now_s) {
            self.close(nodes, storages, now_s);
          },
          nb::arg("nodes"), nb::arg("storages"), nb::arg("now_s"))
      .def(
          "open",
          [](Book& self, const Nodes& nodes, const Nodes& storages, double now_s) {
            self.open(ascending(nodes), ascending(storages), now_s);
          },
          nb::arg("nodes"), nb::arg("storages"), nb::arg("now_s"))
      .def("drain_bytes", &Book::drain, nb::arg("storage"), nb::arg("drained"), nb::arg("now_s"))
      .def("fault", &Book::fault);
}

}  // namespace spillway::bindings
