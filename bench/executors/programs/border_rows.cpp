// Border rows: a grid in six strips of 16 rows, each an actor. In each step a strip sends its first
// and its last row to its neighbours and computes all of its cells anew. A step takes some
// microseconds, and each row is a vector that one actor makes and another one frees.
//
// Size: steps. The answer is a sum over the cells.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <cstddef>
#include <deque>
#include <vector>

namespace basal::bench {

namespace {

using border = caf::atom_constant<caf::atom("border")>;
using meet = caf::atom_constant<caf::atom("meet")>;
using row = std::vector<std::int64_t>;
using rows = std::vector<row>;

constexpr std::size_t num_strips = 6;
constexpr std::size_t strip_height = 16;
constexpr std::size_t width = 200;

row first_row(std::size_t y) {
  row result;
  for (std::size_t x = 0; x < width; ++x)
    result.push_back(static_cast<std::int64_t>(scrambled(y * width + x) % 16'000));
  return result;
}

row relaxed(const row& up, const row& middle, const row& down) {
  auto result = middle;
  for (std::size_t x = 1; x + 1 < width; ++x)
    result[x] = (up[x] + down[x] + middle[x - 1] + middle[x + 1] + 4 * middle[x]) / 8;
  return result;
}

std::int64_t sum_of(const rows& cells) {
  std::int64_t sum = 0;
  for (const auto& each : cells)
    for (std::size_t x = 0; x < width; ++x)
      sum += each[x] * static_cast<std::int64_t>(x % 3 + 1);
  return sum;
}

class strip : public caf::event_based_actor {
public:
  strip(caf::actor_config& config, std::size_t number, std::int64_t steps, caf::actor observer)
    : caf::event_based_actor(config), left_(steps), observer_(std::move(observer)) {
    for (std::size_t y = 0; y < strip_height; ++y)
      cells_.push_back(first_row(number * strip_height + y));
  }

  caf::behavior make_behavior() override {
    return {[this](meet, const caf::actor& above, const caf::actor& below) {
              above_ = above;
              below_ = below;
              send_borders();
              go_on();
            },
            [this](border, bool is_from_above, row& cells) {
              (is_from_above ? from_above_ : from_below_).push_back(std::move(cells));
              go_on();
            }};
  }

private:
  void send_borders() {
    send(above_, border::value, false, cells_.front());
    send(below_, border::value, true, cells_.back());
  }

  void go_on() {
    while (above_ && left_ > 0 && !from_above_.empty() && !from_below_.empty()) {
      rows next;
      for (std::size_t y = 0; y < strip_height; ++y)
        next.push_back(relaxed(y == 0 ? from_above_.front() : cells_[y - 1], cells_[y],
                               y + 1 == strip_height ? from_below_.front() : cells_[y + 1]));
      from_above_.pop_front();
      from_below_.pop_front();
      cells_ = std::move(next);
      if (--left_ > 0) {
        send_borders();
        continue;
      }
      send(observer_, sum_of(cells_));
      above_ = below_ = nullptr;
      quit();
    }
  }

  std::int64_t left_;
  caf::actor above_;
  caf::actor below_;
  caf::actor observer_;
  rows cells_;
  std::deque<row> from_above_;
  std::deque<row> from_below_;
};

} // namespace

extern constinit const program border_rows{
  .name = "border_rows",
  .size = 600,
  .quick_size = 100,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      std::vector<caf::actor> strips;
      for (std::size_t i = 0; i < num_strips; ++i)
        strips.push_back(system.spawn<strip>(i, size, watching.handle()));
      for (std::size_t i = 0; i < num_strips; ++i)
        caf::anon_send(strips[i], meet::value, strips[(i + num_strips - 1) % num_strips],
                       strips[(i + 1) % num_strips]);
      strips.clear();
      return watching.sum_of_answers(num_strips);
    },
  .expected =
    [](std::int64_t size) {
      rows cells;
      for (std::size_t y = 0; y < num_strips * strip_height; ++y)
        cells.push_back(first_row(y));
      for (std::int64_t step = 0; step < size; ++step) {
        rows next;
        for (std::size_t y = 0; y < cells.size(); ++y)
          next.push_back(relaxed(cells[(y + cells.size() - 1) % cells.size()], cells[y],
                                 cells[(y + 1) % cells.size()]));
        cells = std::move(next);
      }
      return sum_of(cells);
    },
};

} // namespace basal::bench
