// The time that an executor expects it to cost an actor to go on at another CPU, by the lines that
// came from there.

#include <basal/executors/detail/move_time.hpp>

#include "support/catch.hpp"

#include <cstdint>

using basal::executors::move_time;

namespace {

void note(move_time& time, int lines, std::uint64_t took) {
  for (int i = 0; i < lines; ++i)
    time.note(took);
}

} // namespace

TEST_CASE("until a line has come, the most is expected") {
  CHECK(move_time{move_time::lines * 1000}.ticks() == move_time::lines * 1000);
}

TEST_CASE("the first lines count for their number, however much was expected before") {
  move_time time{move_time::lines * 1000};
  time.note(80);
  CHECK(time.ticks() == move_time::lines * 80);
  time.note(120);
  CHECK(time.ticks() == move_time::lines * 100);
}

TEST_CASE("what is expected follows the last lines") {
  move_time time{move_time::lines * 1000};
  note(time, 100, 80);
  CHECK(time.ticks() > move_time::lines * 79);
  CHECK(time.ticks() < move_time::lines * 82);
  note(time, 100, 400); // the CPUs have moved apart
  CHECK(time.ticks() > move_time::lines * 399);
  CHECK(time.ticks() < move_time::lines * 402);
}

TEST_CASE("a line that came late, since its reader had no CPU, counts for no more than the most") {
  move_time time{move_time::lines * 1000};
  note(time, 100, 80);
  const auto before = time.ticks();
  time.note(1'000'000'000);
  CHECK(time.ticks() > before);
  CHECK(time.ticks() < before + move_time::lines * 1000 / 4);
}

TEST_CASE("a move costs something, however fast the lines come") {
  move_time time{move_time::lines * 1000};
  note(time, 1000, 0);
  CHECK(time.ticks() >= 1);
  move_time none{0};
  CHECK(none.ticks() == 1);
}
