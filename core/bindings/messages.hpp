#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <unordered_map>
#include <utility>

#include "model/messages.hpp"

namespace spillway::bindings {

/// Converts native messages to the structs of `spillway.protocol.messages`, and their replies back.
class MessageTable {
 public:
  explicit MessageTable(const nanobind::module_& module);

  nanobind::object message(const Message& message);
  /// Appends the requests of a reply in their order.
  void reply(nanobind::handle reply, Reply& found);
  nanobind::object event(const Event& event);
  /// Appends what one request stands for; `index` is its place.
  void request(nanobind::handle request, std::int32_t index, Reply& reply) const;

 private:
  nanobind::object killed(const Event& event);
  nanobind::object alloc(const Ids& ids);
  Request& add(nanobind::handle request, Request::Kind kind, Reply& reply) const;
  void execute(nanobind::handle request, Request& found) const;

  nanobind::object message_, begins_, ends_, submitted_, completed_, killed_, call_, notify_;
  nanobind::object progress_, states_, no_more_jobs_, no_more_events_;
  nanobind::object execute_, reject_, call_later_, kill_, register_profile_, register_job_,
      metadata_;
  /// Machines as Python has them; many jobs have the same.
  std::unordered_map<const void*, std::pair<Ids, nanobind::object>> allocs_;
};

}  // namespace spillway::bindings
