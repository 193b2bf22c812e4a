#include "bench/support/options.hpp"
#include "support/catch.hpp"

#include <initializer_list>
#include <vector>

using namespace basal::bench;

namespace {

options parse(std::initializer_list<const char*> arguments) {
  return parse_options(std::vector<const char*>{arguments});
}

} // namespace

TEST_CASE("a full run repeats more than a quick one, and both at least five times") {
  CHECK(parse({}).repetitions > parse({"--quick"}).repetitions);
  CHECK(parse({"--quick"}).repetitions >= 5);
  CHECK(parse({"--quick"}).min_time_s < parse({}).min_time_s);
}

TEST_CASE("an explicit number wins over --quick wherever it stands") {
  CHECK(parse({"--repetitions", "7", "--quick"}).repetitions == 7);
  CHECK(parse({"--quick", "--min-time", "0.5"}).min_time_s == 0.5);
}

TEST_CASE("filter and file are taken as given") {
  const auto o = parse({"--filter", "fib/.*", "--json", "x.json", "--list"});
  CHECK(o.filter == "fib/.*");
  CHECK(o.json == "x.json");
  CHECK(o.list);
}

TEST_CASE("a wrong command line names what is wrong") {
  CHECK_THROWS_AS(parse({"--fast"}), usage_error);
  CHECK_THROWS_AS(parse({"fib"}), usage_error);
  CHECK_THROWS_AS(parse({"--json"}), usage_error);
  CHECK_THROWS_AS(parse({"--filter", "("}), usage_error);
  CHECK_THROWS_AS(parse({"--repetitions", "0"}), usage_error);
  CHECK_THROWS_AS(parse({"--repetitions", "2.5"}), usage_error);
  CHECK_THROWS_AS(parse({"--min-time", "1s"}), usage_error);
  CHECK_THROWS_AS(parse({"--min-time", "nan"}), usage_error);
}
