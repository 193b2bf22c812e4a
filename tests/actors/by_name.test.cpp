// Counts by names of actors.

#include <basal/actors/detail/by_name.hpp>

#include "support/catch.hpp"

#include <string>

namespace {

struct counted {
  std::string name;
  int times = 0;
};

using names = basal::actors::detail::by_name<counted>;

} // namespace

TEST_CASE("each name has a record of its own") {
  names log;
  for (const char* name : {"b", "a", "b"})
    log.change(name, [](counted& record) { ++record.times; });
  const auto all = log.snapshot();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "a");
  CHECK(all[0].times == 1);
  CHECK(all[1].name == "b");
  CHECK(all[1].times == 2);
}

TEST_CASE("names beyond a thousand are counted together") {
  names log;
  for (std::size_t i = 0; i < names::max_names + 10; ++i)
    log.change("actor " + std::to_string(i), [](counted& record) { ++record.times; });
  const auto all = log.snapshot();
  REQUIRE(all.size() == names::max_names + 1);
  CHECK(all[0].name == names::other_names);
  CHECK(all[0].times == 10);
}
