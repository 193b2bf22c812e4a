#include "program.hpp"

#include <caf/actor_system.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace basal::bench {

observer::observer(caf::actor_system& system) : self_(system) {
}

caf::actor observer::handle() const {
  return caf::actor{self_};
}

std::int64_t observer::sum_of_answers(std::int64_t count) {
  const auto sum = sum_of(count);
  await_end();
  return sum;
}

void observer::await_end() {
  self_->home_system().registry().await_running_count_equal(1); // itself
}

std::int64_t observer::sum_of(std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    bool came = true;
    self_->receive([&](std::int64_t answer) { sum += answer; },
                   caf::after(std::chrono::seconds{30}) >> [&] { came = false; });
    if (!came) {
      self_->home_system().await_actors_before_shutdown(false);
      throw std::runtime_error("answer " + std::to_string(i + 1) + " of " + std::to_string(count)
                               + " did not come within 30 s");
    }
  }
  return sum;
}

} // namespace basal::bench
