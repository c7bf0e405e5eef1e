#include "log/table_cells.hpp"

#include <algorithm>

namespace spillway {
namespace {

bool ends_row(char sign) { return sign == '\n' || sign == '\r'; }
bool ends_cell(char sign) { return sign == ',' || ends_row(sign); }

}  // namespace

bool TableCells::end_row() {
  cells_.clear();
  const std::string_view text(text_);
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    cells_.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  const bool goes_on = row_(cells_);
  text_.clear();
  ends_.clear();
  return goes_on;
}

bool TableCells::end_at(char sign) {
  end_cell();
  if (sign == ',') {
    state_ = State::CELL;
    return true;
  }
  state_ = sign == '\r' ? State::AFTER_RETURN : State::ROW;
  return end_row();
}

bool TableCells::feed(std::string_view text) {
  for (auto at = text.begin(); at != text.end();) {
    const char sign = *at;
    if (state_ == State::PLAIN) {
      const auto end = std::find_if(at, text.end(), ends_cell);
      text_.append(at, end);
      at = end;
      if (at != text.end() && !end_at(*at++)) return false;
      continue;
    }
    if (state_ == State::QUOTED) {
      const auto end = std::find(at, text.end(), '"');
      text_.append(at, end);
      at = end;
      if (at != text.end()) {
        state_ = State::QUOTE;
        ++at;
      }
      continue;
    }
    if (state_ == State::AFTER_RETURN) {
      state_ = State::ROW;
      if (sign == '\n') {
        ++at;
        continue;
      }
    }
    if (state_ == State::ROW && ends_row(sign)) {  // no cell at all
      state_ = sign == '\r' ? State::AFTER_RETURN : State::ROW;
      ++at;
      if (!end_row()) return false;
      continue;
    }
    if (state_ != State::QUOTE && sign == '"') {
      state_ = State::QUOTED;
      ++at;
    } else if (state_ == State::QUOTE && sign == '"') {  // two quotes are one of the cell
      text_ += sign;
      state_ = State::QUOTED;
      ++at;
    } else if (ends_cell(sign)) {
      ++at;
      if (!end_at(sign)) return false;
    } else {
      state_ = State::PLAIN;
    }
  }
  return true;
}

bool TableCells::finish() {
  if (state_ == State::ROW || state_ == State::AFTER_RETURN) return true;
  end_cell();
  state_ = State::ROW;
  return end_row();
}

}  // namespace spillway
