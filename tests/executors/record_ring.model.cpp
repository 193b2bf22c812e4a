// The ring of a flight recorder under controlled schedules: what a reader keeps is what was written
// under that number, whole, however far the writer has gone on.

#include "model_support.hpp"

#include <array>

#include <basal/executors/detail/record_ring.hpp>

using namespace model;

namespace {

using ring = basal::detail::basic_record_ring<atomic>;
using basal::detail::record;

/// Both words tell the number, so that halves of different records show.
record numbered(std::uint64_t n) {
  return {n + 1, 100 + n};
}

scenario one_reads(std::uint64_t records) {
  return [=](run& r) {
    std::array<ring::slot, 2> slots;
    ring recorded{slots};
    r.thread("writer", [&] {
      for (std::uint64_t n = 0; n < records; ++n)
        recorded.add(numbered(n));
    });
    r.thread("reader", [&] {
      std::array<record, 2> copies;
      const auto [first, found] = recorded.read(0, copies);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto wanted = numbered(first + i);
        check(found[i].when_and_kind == wanted.when_and_kind && found[i].what == wanted.what,
              "is not what was written: record", static_cast<int>(first + i));
      }
    });
    r.go();
  };
}

} // namespace

TEST_CASE("a reader keeps no record that is half another one") {
  verify("one reads, three records into two slots", one_reads(3));
}
