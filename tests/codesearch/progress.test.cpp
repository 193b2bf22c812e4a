#include "support/catch.hpp"

#include "codesearch/progress.hpp"

using namespace codesearch;
using namespace std::chrono_literals;

TEST_CASE("numbers are grouped by thousands") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("sizes are megabytes of a million bytes") {
  CHECK(megabytes(0) == "0.0");
  CHECK(megabytes(1'450'000) == "1.4");
  CHECK(megabytes(279'700'000) == "280");
}

TEST_CASE("the progress has files, speed, share and remaining time") {
  progress_state state{20'000, 200'000'000, 5'000, 50'000'000, true};
  CHECK(describe(state, 2s) == "5,000 of 20,000 files, 25 MB/s, 25 % of 200 MB, 6 s left");
  state.bytes_done = 1'000'000;
  CHECK(describe(state, 1s) == "5,000 of 20,000 files, 1.0 MB/s, 0 % of 200 MB, 3:19 min left");
}

TEST_CASE("while the walk goes on there is no remaining time") {
  const progress_state state{20'000, 200'000'000, 5'000, 50'000'000, false};
  CHECK(describe(state, 2s) == "5,000 of at least 20,000 files, 25 MB/s, 25 % of 200 MB");
}

TEST_CASE("nothing found and no time passed is no division by zero") {
  CHECK(describe({0, 0, 0, 0, false}, 0s) == "0 of at least 0 files, 0.0 MB/s");
  CHECK(describe({1, 0, 1, 0, true}, 0s) == "1 of 1 files, 0.0 MB/s");
}
