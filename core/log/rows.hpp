#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "model/rounding.hpp"

namespace spillway {

/// Rows of a CSV table, collected as text and handed out many at a time.
class Rows {
 public:
  using Sink = std::function<void(const std::string&)>;

  /// Without a `sink` the text is only collected.
  explicit Rows(Sink sink) : sink_(std::move(sink)) {}

  bool has_sink() const { return static_cast<bool>(sink_); }
  const std::string& text() const { return text_; }
  /// Number of bytes of the rows so far.
  std::int64_t bytes() const { return handed_out_ + std::int64_t(text_.size()); }

  /// Appends a cell as it stands, and the comma after it.
  void cell(const std::string& text) { text_.append(text).append(1, ','); }
  /// The same for a number, with six decimals.
  void cell(double number) {
    print(text_, number);
    text_ += ',';
  }
  /// Appends the last cells of a row as they stand, and ends it.
  void end(const std::string& text) {
    text_.append(text).append(1, '\n');
    if (sink_ && text_.size() >= MOST_COLLECTED) settle();
  }
  /// Hands out the rows collected so far.
  void settle() {
    if (text_.empty()) return;
    handed_out_ += std::int64_t(text_.size());
    sink_(std::exchange(text_, {}));
  }

 private:
  /// Bytes of rows that are handed out together.
  static constexpr std::size_t MOST_COLLECTED = 1 << 16;

  Sink sink_;
  std::string text_;
  std::int64_t handed_out_ = 0;
};

}  // namespace spillway
