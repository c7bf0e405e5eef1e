// Packed objects: a dict of texts and numbers as its members one after another, which is small and
// quickly made; any other object as Python pickles it.
#include "bindings/payload.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

constexpr char FLAT = 'F';  // pickled objects begin with another byte
constexpr std::size_t LONGEST_KEY = 255, MOST_KEYS = 1024;

template <class Value>
void write(std::string& text, char kind, Value value) {
  text += kind;
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Appends a text or a number; false for anything else.
bool write_value(std::string& text, PyObject* value) {
  if (PyFloat_CheckExact(value)) {
    write(text, 'd', PyFloat_AsDouble(value));
  } else if (PyLong_CheckExact(value)) {
    int overflow = 0;
    const std::int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return false;
    write(text, 'i', number);
  } else if (PyUnicode_CheckExact(value)) {
    Py_ssize_t size = 0;
    const char* found = PyUnicode_AsUTF8AndSize(value, &size);
    if (found == nullptr) {
      PyErr_Clear();
      return false;
    }
    write(text, 's', std::uint32_t(size));
    text.append(found, std::size_t(size));
  } else {
    return false;
  }
  return true;
}

bool write_flat(std::string& text, nb::handle object) {
  if (!PyDict_CheckExact(object.ptr())) return false;
  text += FLAT;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t place = 0, size = 0;
  while (PyDict_Next(object.ptr(), &place, &key, &value)) {
    const char* name = PyUnicode_CheckExact(key) ? PyUnicode_AsUTF8AndSize(key, &size) : nullptr;
    if (name == nullptr || std::size_t(size) > LONGEST_KEY) {
      PyErr_Clear();
      return false;
    }
    text += char(size);
    text.append(name, std::size_t(size));
    if (!write_value(text, value)) return false;
  }
  return true;
}

class FlatReader {
 public:
  FlatReader(const char* text, std::size_t size) : text_(text), size_(size) {}

  nb::object read() {
    nb::dict found;
    while (place_ < size_) {
      const std::size_t length = std::uint8_t(text_[place_++]);
      const nb::object name = key(take(length));
      PyDict_SetItem(found.ptr(), name.ptr(), value().ptr());
    }
    return std::move(found);
  }

 private:
  std::string_view take(std::size_t length) {
    const std::string_view found(text_ + place_, length);
    place_ += length;
    return found;
  }
  template <class Value>
  Value number() {
    Value found;
    std::memcpy(&found, take(sizeof found).data(), sizeof found);
    return found;
  }
  nb::object value() {
    const char kind = take(1)[0];
    if (kind == 'd') return nb::float_(number<double>());
    if (kind == 'i') return nb::int_(number<std::int64_t>());
    const std::string_view found = take(number<std::uint32_t>());
    return nb::str(found.data(), found.size());
  }
  /// One text for all members of a name; they live as long as the process.
  static nb::object key(std::string_view name) {
    static auto* const known = new std::unordered_map<std::string, nb::object>;
    const auto found = known->find(std::string(name));
    if (found != known->end()) return found->second;
    nb::object made = nb::str(name.data(), name.size());
    if (known->size() < MOST_KEYS) known->emplace(name, made);
    return made;
  }

  const char* text_;
  std::size_t size_, place_ = 1;
};

/// A function of Python's module `pickle`, which lives as long as the process.
nb::object& pickle(const char* function) {
  return *new nb::object(nb::module_::import_("pickle").attr(function));
}

}  // namespace

nb::object unwrap(const PayloadPtr& payload) {
  if (payload == nullptr) return nb::none();
  const auto& kept = static_cast<const PythonPayload&>(*payload);
  if (!kept.packed) return kept.value;
  char* text = nullptr;
  Py_ssize_t size = 0;
  PyBytes_AsStringAndSize(kept.value.ptr(), &text, &size);
  if (text[0] == FLAT) return FlatReader(text, std::size_t(size)).read();
  static nb::object& loads = pickle("loads");
  return loads(kept.value);
}

PayloadPtr packed(const PayloadPtr& payload) {
  if (payload == nullptr || static_cast<const PythonPayload&>(*payload).packed) return payload;
  std::string text;
  const nb::object object = unwrap(payload);
  static nb::object& dumps = pickle("dumps");
  nb::object bytes =
      write_flat(text, object) ? nb::object(nb::bytes(text.data(), text.size())) : dumps(object, 5);
  return std::make_shared<PythonPayload>(std::move(bytes), true);
}

}  // namespace spillway::bindings
