#include "engines/network.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/collected.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

/// Routes of a platform in Python. Its calls take the interpreter's lock: a loop may have given it
/// back.
class PythonRoutes final : public RouteSource {
 public:
  PythonRoutes(nb::object route, nb::object route_once, nb::object alike)
      : route_(std::move(route)), route_once_(std::move(route_once)), alike_(std::move(alike)) {}

  Route find(std::int32_t from, std::int32_t to) override { return read(route_, from, to); }
  Route find_once(std::int32_t from, std::int32_t to) override {
    return read(route_once_, from, to);
  }
  std::vector<std::vector<std::int32_t>> alike() override {
    const nb::gil_scoped_acquire lock;
    return nb::cast<std::vector<std::vector<std::int32_t>>>(alike_());
  }

  int visit(const Visitor& visitor) const { return visitor(route_, route_once_, alike_); }
  void clear() {
    route_.reset();
    route_once_.reset();
    alike_.reset();
  }

 private:
  static Route read(const nb::object& finder, std::int32_t from, std::int32_t to) {
    const nb::gil_scoped_acquire lock;
    const nb::object found = finder(from, to);
    return {nb::cast<std::vector<std::int32_t>>(found.attr("links")),
            nb::cast<double>(found.attr("latency"))};
  }

  nb::object route_;
  nb::object route_once_;
  nb::object alike_;
};

PythonRoutes& source_of(const Network& network) {
  return static_cast<PythonRoutes&>(network.routes.source());
}

// A platform may keep the network that asks it for routes: a circle that Python's collector must
// see.
int visit(const Network& network, const Visitor& visitor) {
  return source_of(network).visit(visitor);
}
void clear(Network& network) { source_of(network).clear(); }

void make(Network* place, std::vector<double> speeds, std::vector<std::int64_t> cores,
          std::vector<double> bandwidths, const std::vector<bool>& fatpipe, nb::object route,
          nb::object route_once, nb::object alike, std::int32_t most_hosts, std::int64_t many) {
  auto source =
      std::make_unique<PythonRoutes>(std::move(route), std::move(route_once), std::move(alike));
  new (place) Network(std::move(speeds), std::move(cores), std::move(bandwidths),
                      std::vector<char>(fatpipe.begin(), fatpipe.end()), std::move(source),
                      {most_hosts, many});
}

std::pair<std::vector<std::int32_t>, double> route(Network& network, std::int32_t from,
                                                   std::int32_t to) {
  const std::int32_t found = network.routes.find(from, to);
  const LinkRange links = network.routes.links(found);
  return {{links.begin(), links.end()}, network.routes.latency_s(found)};
}

std::vector<std::int32_t> groups(const Network& network) {
  std::vector<std::int32_t> found;
  for (std::int32_t host = 0; host < network.hosts(); ++host) {
    found.push_back(network.routes.groups().of(host));
  }
  return found;
}

void group(Network& network, const std::vector<std::int32_t>& members) {
  network.routes.group(members);
}

}  // namespace

void bind_network(nb::module_& module) {
  nb::class_<Network>(module, "Network", nb::type_slots(collected_slots<Network, visit, clear>()))
      .def("__init__", &make, nb::arg("speeds"), nb::arg("cores"), nb::arg("bandwidths"),
           nb::arg("fatpipe"), nb::arg("route"), nb::arg("route_once"), nb::arg("alike"),
           nb::arg("most_hosts") = GroupLimits().most_hosts, nb::arg("many") = GroupLimits().many)
      .def("route", &route, nb::arg("source"), nb::arg("destination"))
      .def("group", &group, nb::arg("members"))
      .def_prop_ro("groups", &groups);
}

}  // namespace spillway::bindings
