#include "session/times.hpp"

#include <map>
#include <string>
#include <vector>

#include "check.hpp"

using spillway::Times;
using spillway::TimesOfJobs;

// Ids that differ in their text are different jobs, also where their numbers are the same.
CORE_TEST(times_are_kept_by_the_text_of_the_id) {
  const std::vector<std::string> ids = {"w0!1",
                                        "w0!01",
                                        "w0!001",
                                        "w0!0",
                                        "w0!00",
                                        "w0!31",
                                        "w0!32",
                                        "w0!33",
                                        "w0!1000000000000",
                                        "w1!1",
                                        "w01!1",
                                        "w0!a",
                                        "w0!1a",
                                        "w0!a1",
                                        "w0!a2",
                                        "1!1",
                                        "11!1",
                                        "w0!999999999999999999",
                                        "1",
                                        "w0!9999999999999999999",
                                        "w0!18446744073709551617"};
  TimesOfJobs times;
  std::map<std::string, double> right;
  double now_s = 0.0;
  for (const std::string& id : ids) {
    EXPECT(times.find(id) == nullptr);
    const auto [entered, fresh] = times.enter(id);
    entered.started_s = right[id] = ++now_s;
    EXPECT(fresh);
    EXPECT(!times.enter(id).second);
    for (const std::string& other : ids) {
      const Times* found = times.find(other);
      EXPECT((found != nullptr) == (right.count(other) > 0));
      if (found != nullptr) EXPECT(found->started_s == right[other]);
    }
  }
}
