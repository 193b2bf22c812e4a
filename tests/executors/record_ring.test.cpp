#include <basal/executors/detail/record_names.hpp>
#include <basal/executors/detail/record_ring.hpp>

#include "support/catch.hpp"

#include <array>
#include <string>

using basal::detail::record;
using basal::detail::record_names;
using basal::detail::record_ring;
using basal::executors::record_kind;

namespace {

record numbered(std::uint64_t n) {
  return record::make(record_kind::begins, n, n, 7);
}

struct small_ring {
  std::array<record_ring::slot, 4> slots;
  record_ring ring{slots};
  std::array<record, 8> copies;
};

} // namespace

TEST_CASE("a record holds its time modulo 2^56, its subject modulo 2^48, its name") {
  const auto r = record::make(record_kind::wakes, 0x12'3456'789a'bcde, 0xffff'1234'5678'9abc, 9);
  CHECK(r.kind() == static_cast<std::uint8_t>(record_kind::wakes));
  CHECK(r.ticks() == 0x12'3456'789a'bcde);
  CHECK(r.subject() == 0x1234'5678'9abc);
  CHECK(r.name() == 9);
}

TEST_CASE("a ring that is not full yet gives what was written") {
  small_ring s;
  for (std::uint64_t n = 0; n < 3; ++n)
    s.ring.add(numbered(n));
  const auto [first, found] = s.ring.read(0, s.copies);
  CHECK(first == 0);
  REQUIRE(found.size() == 3);
  CHECK(found[2].subject() == 2);
}

TEST_CASE("a full ring gives the latest records but the one that may be written at the moment") {
  small_ring s;
  for (std::uint64_t n = 0; n < 10; ++n)
    s.ring.add(numbered(n));
  const auto [first, found] = s.ring.read(0, s.copies);
  CHECK(first == 7);
  REQUIRE(found.size() == 3);
  CHECK(found[0].subject() == 7);
  CHECK(found[2].subject() == 9);
}

TEST_CASE("a reader goes on where it was") {
  small_ring s;
  s.ring.add(numbered(0));
  s.ring.add(numbered(1));
  const auto [first, found] = s.ring.read(1, s.copies);
  CHECK(first == 1);
  CHECK(found.size() == 1);
  CHECK(s.ring.read(2, s.copies).second.empty());
}

TEST_CASE("a name has one number, and is copied") {
  std::string text = "a name of this test";
  const auto number = record_names::number_of(text);
  CHECK(number != 0);
  text[0] = 'A';
  CHECK(record_names::text(number) == "a name of this test");
  CHECK(record_names::number_of("a name of this test") == number);
  CHECK(record_names::number_of(text) != number);
}

TEST_CASE("a long name is cut off") {
  const std::string text(1000, 'x');
  const auto number = record_names::number_of(text);
  CHECK(record_names::text(number).size() == record_names::max_length);
}
