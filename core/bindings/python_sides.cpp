#include "bindings/python_sides.hpp"

#include "bindings/operations.hpp"
#include "bindings/tasks.hpp"

namespace nb = nanobind;

namespace spillway::bindings {

Handle PythonEngine::start(const Task& task) {
  const auto [hosts, flops, each, sources, destinations, amounts] = parts_of(task);
  return call<Handle>("start", hosts, flops, each, sources, destinations, amounts);
}

bool PythonScheduler::exchange(const Message& message, Reply& reply) {
  const nb::gil_scoped_acquire lock;
  const nb::object answer = exchange_(table_.message(message));
  if (answer.is_none()) return false;
  table_.reply(answer, reply);
  return true;
}

batsim::JobPtr PythonExtension::find(const std::string& id, std::string& reason) {
  const Locked lock;
  const auto found = call<nb::object>("find", id);
  if (nb::isinstance<batsim::Job>(found)) return nb::cast<batsim::JobPtr>(found);
  reason = nb::cast<std::string>(found);
  return nullptr;
}

void PythonExtension::describe(const Request& request) {
  const Locked lock;
  Profile& profile = *request.profile;
  const auto read =
      call<nb::object>("describe", request.job_id, profile.name,
                       dict_of(static_cast<const Description&>(*profile.source)), request.index);
  const auto& found = nb::cast<const Profile&>(read);
  profile.work = found.work;
  profile.ret = found.ret;
  profile.size = found.size;
  profile.elastic = found.elastic;
  profile.children = found.children;
}

}  // namespace spillway::bindings
