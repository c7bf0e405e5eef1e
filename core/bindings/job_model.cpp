#include "bindings/job_model.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

namespace spillway::bindings {

namespace {

constexpr const char* BASE = "spillway.schedulers.jobmodels.base";
constexpr const char* RECORD = "spillway.schedulers.jobmodels.record";

template <class Number>
nb::dict by_stage(const ByStage<Number>& stages) {
  nb::dict found;
  for (const auto& entry : stages.entries()) found[nb::str(entry.first.c_str())] = entry.second;
  return found;
}

// Times that are not known are one object, so that records that have them can be equal.
nb::object seconds(double time_s) {
  static Imported nan("math", "nan");
  return std::isnan(time_s) ? nb::borrow(*nan) : nb::cast(time_s);
}

nb::object buffer_times(const std::optional<BufferTimes>& times) {
  static Imported type(RECORD, "BufferTimes");
  return times
             ? type(seconds(times->given_s), seconds(times->filled_s), seconds(times->off_nodes_s))
             : nb::none();
}

// The generator that a method of a model returned; another iterator or a fault go to Python.
nb::object generator_of(const nb::object& model, const char* method, nb::object returned) {
  static Imported program_of(BASE, "program_of");
  if (PyGen_CheckExact(returned.ptr())) return returned;
  return program_of(model, method, returned);
}

nb::object set_of(const std::vector<std::int32_t>& numbers) {
  return nb::steal(PyFrozenSet_New(tuple_of(numbers).ptr()));
}

}  // namespace

bool Generator::next(const Done* done, Operation& operation) {
  const nb::object value = done ? nb::cast(*done) : nb::none();
  PyObject* yielded = nullptr;
  const PySendResult result = PyIter_Send(generator_.ptr(), value.ptr(), &yielded);
  if (result == PYGEN_ERROR) throw nb::python_error();
  const nb::object owned = nb::steal(yielded);
  if (result == PYGEN_RETURN) return false;
  const auto refuse = [&](nb::object fault) {
    static Imported refuse_operation(BASE, "refuse_operation");
    refuse_operation(generator_, owned, fault);
  };
  try {
    read(owned, job_, operation);
  } catch (const nb::python_error& fault) {
    refuse(nb::borrow(fault.value()));
  } catch (const std::exception& fault) {
    refuse(nb::str(fault.what()));
  }
  return true;
}

void Generator::close() {
  if (nb::hasattr(generator_, "close")) generator_.attr("close")();
}

int Generator::visit(const Visitor& visitor) const {
  const int found = visitor(generator_);
  return found ? found : visitor(job_);
}

int PythonModel::visit(const Visitor& visitor) const {
  for (const nb::object* object : {&model_, &streams_, &restarts_, &on_record_, &machine_}) {
    if (const int found = visitor(*object)) return found;
  }
  return 0;
}

void PythonModel::clear() {
  for (nb::object* object : {&model_, &streams_, &restarts_, &on_record_, &machine_})
    *object = nb::none();
}

ProgramPtr PythonModel::staging(const char* name, const JobPtr& job) {
  nb::object given = nb::cast(job);
  return std::make_unique<Generator>(generator_of(model_, name, model_.attr(name)(given)), given);
}

ProgramPtr PythonModel::program(const JobPtr& job, const AllocationPtr& allocation, double start_s,
                                const PayloadPtr& resumed) {
  static Imported granted(BASE, "Granted");
  nb::object given = nb::cast(job);
  const nb::object grant = granted(nb::cast(allocation), start_s, object_of(resumed));
  return std::make_unique<Generator>(
      generator_of(model_, "program", model_.attr("program")(given, grant, machine_)), given);
}

std::shared_ptr<const AdditionalIo> PythonModel::stream(const JobPtr& job, const Ids& hosts,
                                                        const PayloadPtr& bytes) {
  const nb::object made = streams_.attr("beside")(nb::cast(job), tuple_of(*hosts), object_of(bytes),
                                                  machine_.attr("pfs_id"));
  auto stream = std::make_shared<AdditionalIo>();
  stream->alloc = indices_of(made.attr("alloc"));
  stream->profile_name = nb::cast<std::string>(made.attr("profile_name"));
  stream->payload = payload_of(made);
  return stream;
}

bool PythonModel::shrink(const PayloadPtr& state, const std::vector<std::int32_t>& nodes) {
  static Imported shrinks(BASE, "Shrinks");
  const nb::object shown = object_of(state);
  return nb::isinstance(shown, *shrinks) && nb::cast<bool>(shown.attr("lose")(set_of(nodes)));
}

Resumed PythonModel::resumed(const PayloadPtr& left) {
  const nb::object found = restarts_.attr("resumed")(object_of(left));
  if (found.is_none()) return {};
  return {payload_of(found), nb::cast<std::int64_t>(found.attr("buffered")) != 0};
}

void PythonModel::went_out(const std::vector<std::int32_t>& hosts, double now_s) {
  restarts_.attr("went_out")(set_of(hosts), now_s);
}

Left PythonModel::left(const Record& record) {
  const nb::object found = restarts_.attr("left")(model_, record_object(record), machine_);
  return {payload_of(found[0]), nb::cast<double>(found[1])};
}

void PythonModel::ended(const Record& record) {
  if (!on_record_.is_none()) on_record_(record_object(record));
}

nb::object record_object(const Record& record) {
  static Imported type(RECORD, "JobRecord");
  // In the order of its members; `preempted` is of runtimes in Python only.
  return type(nb::cast(record.job), nb::cast(record.allocation), record.start_s,
              seconds(record.end_s), state_object(record.state), record.return_code, record.whole,
              buffer_times(record.staged), false, record.sub_jobs, record.operations,
              by_stage(record.seconds), by_stage(record.moved_bytes), record.io_wait_s,
              seconds(record.idle_end_s), object_of(record.state_shown), object_of(record.resumed),
              by_stage(record.through), record.computed_s, record.drained);
}

}  // namespace spillway::bindings
