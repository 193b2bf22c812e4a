#include "bench/support/suite.hpp"
#include "support/catch.hpp"

#include <stdexcept>

using namespace basal::bench;

namespace {

void nothing(benchmark::State&) {
}

results two_cases() {
  results r;
  r.cases().push_back({"fib/9/basal/1", "", {11, 12, 90}, {{"thefts", 4}}, ""});
  r.cases().push_back({"fib/9/serial/1", "", {10, 9, 11}, {}, ""});
  r.cases().push_back({"fib/9/tbb/1", "", {}, {}, "wrong answer"});
  return r;
}

} // namespace

TEST_CASE("case names are workload/size/impl/threads") {
  CHECK(case_name("fib", 37, "basal", 2) == "fib/37/basal/2");
  CHECK(case_name("sort", "10M", "std", 1) == "sort/10M/std/1");
}

TEST_CASE("a plan refuses names of another form") {
  plan p{true};
  for (const char* name : {"", "fib", "fib/37/basal", "fib/37/basal/", "fib//basal/1",
                           "fib/37/basal/two", "fib/37/basal/1/x", "/37/basal/1"}) {
    CHECK_THROWS_AS(p.add(name, nothing), std::logic_error);
  }
  CHECK(p.cases().empty());
}

TEST_CASE("a plan refuses a name twice") {
  plan p{true};
  p.add("fib/37/basal/1", nothing);
  CHECK_THROWS_AS(p.add("fib/37/basal/1", nothing), std::logic_error);
  p.figure("f", ratio("a", "b"));
  CHECK_THROWS_AS(p.measure("f", [] { return 1.0; }), std::logic_error);
  CHECK_THROWS_AS(p.figure("two words", ratio("a", "b")), std::logic_error);
}

TEST_CASE("a ratio compares medians, so one disturbed repetition does not count") {
  CHECK(ratio("fib/9/basal/1", "fib/9/serial/1")(two_cases()) == Approx(1.2));
}

TEST_CASE("the time per item divides the median") {
  CHECK(ns_per_item("fib/9/basal/1", 4)(two_cases()) == Approx(3));
}

TEST_CASE("a figure of a case that failed or was not run is not measured") {
  CHECK_THROWS_AS(ratio("fib/9/tbb/1", "fib/9/serial/1")(two_cases()), not_measured);
  CHECK_THROWS_AS(ratio("fib/9/basal/1", "fib/9/omp/1")(two_cases()), not_measured);
}

TEST_CASE("counters are found by case and name") {
  const auto r = two_cases();
  CHECK(r.counter("fib/9/basal/1", "thefts") == 4);
  CHECK_THROWS_AS(r.counter("fib/9/basal/1", "merges"), not_measured);
}
