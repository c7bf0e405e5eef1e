#include "engines/engine.hpp"

namespace spillway {

double Engine::step(double most_s, std::vector<Handle>& ended) {
  const double began_s = clock_s_;
  const std::size_t before = ended.size();
  advance(began_s + most_s, ended);
  if (clock_s_ == began_s + most_s) return most_s;
  return most_s == NEVER && ended.size() == before ? NEVER : clock_s_ - began_s;
}

}  // namespace spillway
