#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// Cells of a CSV table whose text comes in parts, divided as Python's module `csv` divides them.
class TableCells {
 public:
  using Cells = std::vector<std::string_view>;
  /// Is given each row; whether the next one is wanted.
  using Row = std::function<bool(const Cells&)>;

  explicit TableCells(Row row) : row_(std::move(row)) {}

  /// The next part of the text; whether all its rows were wanted.
  bool feed(std::string_view text);
  /// The end of the text, which may end a row.
  bool finish();

 private:
  enum class State { ROW, AFTER_RETURN, CELL, PLAIN, QUOTED, QUOTE };

  void end_cell() { ends_.push_back(text_.size()); }
  bool end_row();
  /// A sign that ends a cell, or the cell and its row; false where the next row is not wanted.
  bool end_at(char sign);

  Row row_;
  State state_ = State::ROW;
  std::string text_;
  std::vector<std::size_t> ends_;
  Cells cells_;
};

}  // namespace spillway
