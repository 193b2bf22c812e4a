#include <basal/executors/detail/turn_costs.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

using basal::executors::turn_costs;

namespace {

constexpr std::uint64_t long_message = 1000;
constexpr std::array<char, 1000> kinds{}; ///< each an address

struct pool {
  std::array<turn_costs, 2> of{};

  turn_costs::evidence evidence(std::uint32_t beside = 1, std::uint32_t alone = 1) const {
    return turn_costs::sum_up(
      [this](auto f) {
        for (const auto& each : of)
          f(each);
      },
      beside, alone, long_message);
  }
};

constexpr const void* kind = &kinds[0];
constexpr const void* other_kind = &kinds[1];

} // namespace

TEST_CASE("how much two do together follows from what a message takes alone") {
  pool p;
  p.of[0].note_alone(1, kind, 10, 1000);
  p.of[1].note_beside(1, kind, 4, 1000, 2);
  p.of[0].note_beside(1, kind, 4, 600, 2);
  const auto e = p.evidence();
  CHECK(e.samples == 2);
  CHECK(e.took == 1600);
  CHECK(e.short_messages == 1600);
  CHECK(e.known == 1600);
  CHECK(e.alone == 800);
  CHECK(e.speedup() == 1.0); // each does half as much
}

TEST_CASE("what is known of a kind is what all have taken for it alone") {
  pool p;
  p.of[0].note_alone(1, kind, 3, 100);
  p.of[1].note_alone(1, kind, 1, 300);
  p.of[1].note_beside(1, kind, 1, 200, 2);
  CHECK(p.evidence().alone == 100);
  CHECK(p.evidence().speedup() == 1.0);
}

TEST_CASE("kinds are told apart") {
  pool p;
  p.of[0].note_alone(1, kind, 10, 1000);
  p.of[0].note_alone(1, other_kind, 10, 5000);
  p.of[0].note_beside(1, other_kind, 1, 600, 2);
  CHECK(p.evidence().alone == 500);
}

TEST_CASE("what is not known by four messages alone counts as if it took as long") {
  for (const std::uint64_t messages : {0, 3}) {
    pool p;
    if (messages != 0)
      p.of[0].note_alone(1, kind, messages, 10);
    p.of[0].note_beside(1, kind, 1, 500, 2);
    const auto e = p.evidence();
    CHECK(e.known == 0);
    CHECK(e.short_messages == 500);
    CHECK(e.alone == 500);
    CHECK(e.speedup() == 2.0);
  }
}

TEST_CASE("turns of no kind and long messages count as if they took as long, whatever is known") {
  pool p;
  p.of[0].note_alone(1, nullptr, 10, 10);
  p.of[0].note_alone(1, kind, 10, 10);
  p.of[0].note_beside(1, nullptr, 1, 500, 2);
  p.of[1].note_beside(1, kind, 2, 2 * long_message, 2);
  const auto e = p.evidence();
  CHECK(e.took == 500 + 2 * long_message);
  CHECK(e.short_messages == 0);
  CHECK(e.alone == e.took);
}

TEST_CASE("a period begins with nothing") {
  pool p;
  p.of[0].note_alone(1, kind, 10, 1000);
  p.of[0].note_beside(1, kind, 1, 700, 2);
  CHECK(p.of[0].samples_alone(1) == 1);
  CHECK(p.of[0].samples_alone(2) == 0);
  CHECK(p.evidence(2, 1).samples == 0);
  CHECK(p.evidence(1, 2).known == 0);
  p.of[0].note_alone(2, kind, 10, 3000);
  p.of[0].note_beside(2, kind, 1, 600, 2);
  CHECK(p.of[0].samples_alone(2) == 1);
  const auto e = p.evidence(2, 2);
  CHECK(e.samples == 1);
  CHECK(e.took == 600);
  CHECK(e.alone == 300);
}

TEST_CASE("without samples there is no speedup") {
  CHECK(pool{}.evidence().speedup() == 1.0);
}

TEST_CASE("of more kinds than there is room for, those without a place are not known") {
  pool p;
  for (const auto& each : kinds)
    p.of[0].note_alone(1, &each, 10, 10);
  for (const auto& each : kinds)
    p.of[0].note_beside(1, &each, 1, 1, 2);
  const auto e = p.evidence();
  CHECK(e.samples == kinds.size());
  CHECK(e.took == static_cast<double>(kinds.size()));
  CHECK(e.known > 0);
  CHECK(e.known <= static_cast<double>(turn_costs::capacity));
}
