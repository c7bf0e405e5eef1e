#include "engines/waterfill.hpp"

#include <nanobind/stl/vector.h>

#include <vector>

#include "bindings/bindings.hpp"
#include "engines/water_filling.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

void make_tree(IoTree* place, const std::vector<double>& bytes_per_s,
               const std::vector<std::int32_t>& parents, std::vector<std::int32_t> above,
               bool whole_units) {
  std::vector<IoLink> links;
  for (std::size_t link = 0; link < bytes_per_s.size(); ++link) {
    links.push_back({bytes_per_s[link], parents[link]});
  }
  new (place) IoTree(std::move(links), std::move(above), whole_units);
}

void change_demand(IoTree& tree, const std::vector<std::int32_t>& hosts,
                   const std::vector<double>& bytes_per_s, double sign) {
  std::vector<IoRate> rates;
  for (std::size_t k = 0; k < hosts.size(); ++k) rates.push_back({hosts[k], bytes_per_s[k]});
  tree.change_demand(rates, sign);
}

void make_engine(WaterfillEngine* place, std::vector<double> speeds,
                 const std::vector<bool>& stores, const IoTree& tree) {
  new (place)
      WaterfillEngine(std::move(speeds), std::vector<char>(stores.begin(), stores.end()), tree);
}

}  // namespace

void bind_waterfill(nb::module_& module) {
  module.def("water_fill", &water_fill, nb::arg("requests"), nb::arg("peak"),
             nb::arg("whole") = false);

  nb::class_<IoTree>(module, "IoTree")
      .def("__init__", &make_tree, nb::arg("bytes_per_s"), nb::arg("parents"), nb::arg("above"),
           nb::arg("whole_units") = false)
      .def("change_demand", &change_demand, nb::arg("hosts"), nb::arg("bytes_per_s"),
           nb::arg("sign") = 1.0)
      .def_prop_ro("contended", &IoTree::contended)
      .def("share", &IoTree::share)
      .def("factor", &IoTree::factor, nb::arg("host"));

  nb::class_<WaterfillEngine, Engine>(module, "WaterfillEngine")
      .def("__init__", &make_engine, nb::arg("speeds"), nb::arg("stores"), nb::arg("tree"))
      .def_prop_ro("contended_s", &WaterfillEngine::contended_s)
      .def_prop_ro("busy_s", &WaterfillEngine::busy_s);
}

}  // namespace spillway::bindings
