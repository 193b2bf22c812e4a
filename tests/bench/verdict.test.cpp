#include "bench/support/verdict.hpp"

#include "support/catch.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

using namespace basal::bench;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

table_row row(standing kind, double ours, bound must) {
  return {.table = "T1", .what = "figure", .kind = kind, .source = "5", .ours = ours, .must = must};
}

} // namespace

TEST_CASE("an exact row holds with its figure and with no other") {
  CHECK(holds(row(standing::exact, 7, equals(7))));
  for (const double wrong : {6.0, 8.0, 7.0000001, -7.0, 0.0, infinite, not_a_number}) {
    INFO(wrong);
    CHECK_FALSE(holds(row(standing::exact, wrong, equals(7))));
    const table_row rows[]
      = {row(standing::exact, 7, equals(7)), row(standing::exact, wrong, equals(7))};
    CHECK(exit_status(rows) == 1);
  }
}

TEST_CASE("a ratio holds within its bound, ends included") {
  for (const double right : {0.9, 1.0, 1.1})
    CHECK(holds(row(standing::ratio, right, {0.9, 1.1})));
  for (const double wrong : {0.89, 1.11, -1.0, infinite, -infinite, not_a_number})
    CHECK_FALSE(holds(row(standing::ratio, wrong, {0.9, 1.1})));
  CHECK(holds(row(standing::ratio, 2, at_most(2))));
  CHECK_FALSE(holds(row(standing::ratio, 2.01, at_most(2))));
  CHECK_FALSE(holds(row(standing::ratio, not_a_number, at_most(2))));
  CHECK_FALSE(holds(row(standing::ratio, 1.99, at_least(2))));
  CHECK_FALSE(holds(row(standing::ratio, not_a_number, at_least(2))));
  CHECK(holds(row(standing::ratio, 0.26, about(0.252, 0.1))));
  CHECK_FALSE(holds(row(standing::ratio, 0.29, about(0.252, 0.1))));
}

TEST_CASE("what belongs to a machine is shown and not judged") {
  for (const auto kind : {standing::absolute, standing::unreachable})
    for (const double any : {0.0, 1e9, not_a_number}) {
      CHECK(holds(row(kind, any, equals(7))));
      CHECK(verdict(row(kind, any, equals(7))) == "not judged");
    }
}

TEST_CASE("the verdict says what is wrong, and why a row is out of reach") {
  CHECK(verdict(row(standing::exact, 7, equals(7))) == "holds");
  CHECK(verdict(row(standing::exact, 12, {5, 6})) == "MISSES: 12 is not 5 to 6");
  CHECK(verdict(row(standing::ratio, 3, at_most(2))) == "MISSES: 3 is not at most 2");
  CHECK(verdict(row(standing::ratio, not_a_number, at_least(2)))
        == "MISSES: not measured is not at least 2");
  auto far = row(standing::unreachable, not_a_number, {});
  far.why = "8 CPUs needed";
  CHECK(verdict(far) == "not judged; 8 CPUs needed");
}

TEST_CASE("figures that ought to be one are as far apart as the extremes") {
  CHECK(spread_ratio(std::vector{10.9, 13.3, 13.5, 13.0}) == Approx(13.5 / 10.9));
  CHECK(std::isnan(spread_ratio(std::vector{1.0, -1.0})));
  CHECK(std::isnan(spread_ratio(std::vector{1.0, not_a_number})));
  CHECK(std::isnan(spread_ratio(std::vector<double>{})));
}

TEST_CASE("both reports carry every row and its verdict") {
  const table_row rows[] = {row(standing::exact, 7, equals(7)), row(standing::ratio, 3, at_most(2)),
                            row(standing::unreachable, not_a_number, {})};
  const auto text = rows_as_markdown(rows);
  CHECK(text.find("| T1 | figure | D | 5 | 7 | 7 | holds |") != text.npos);
  CHECK(text.find("| R | 5 | 3 | at most 2 | MISSES: 3 is not at most 2 |") != text.npos);
  CHECK(text.find("| U | 5 |  |  | not judged |") != text.npos);
  const auto json = rows_as_json(rows);
  CHECK(json.find("\"holds\": false") != json.npos);
  CHECK(json.find("\"ours\": null") != json.npos);
  CHECK(exit_status(rows) == 1);
  CHECK(exit_status(std::span{rows}.first(1)) == 0);
}
