#include <basal/executors/detail/adaptive_interval.hpp>

#include "support/catch.hpp"

using basal::executors::adaptive_interval;

TEST_CASE("the interval keeps a millisecond between looks at the injection queue") {
  struct {
    std::uint64_t average_ns;
    std::uint32_t tasks;
  } rows[] = {{1, 255},     {1'000, 255},  {3'921, 255}, {3'922, 254}, {10'000, 100},
              {50'000, 20}, {100'000, 10}, {111'111, 9}, {111'112, 8}, {1'000'000, 8}};
  for (auto [average, tasks] : rows) {
    CAPTURE(average);
    CHECK(adaptive_interval::tasks_for(average) == tasks);
  }
}

TEST_CASE("the interval starts at 20 tasks and ignores empty batches") {
  adaptive_interval i;
  CHECK(i.tasks() == 20);
  i.record(1'000'000, 0);
  CHECK(i.average_ns() == 50'000);
}

TEST_CASE("a batch moves the average by a tenth of the difference") {
  adaptive_interval i;
  i.record(1'000'000, 1);
  CHECK(i.average_ns() == 145'000);
  CHECK(i.tasks() == 8);
  for (int batch = 0; batch < 1000; ++batch)
    i.record(0, 100);
  CHECK(i.average_ns() == 1); // never 0
}
