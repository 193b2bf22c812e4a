// filter bank (Savina): a source sends a signal, sample by sample, through eight banks of two
// filters of 32 taps each; an integrator adds up the banks' outputs for each sample. Pipelines side
// by side that join: each sample is 25 messages.
//
// Size: samples. Filters compute with integers, so that the answer is exact.

#include "program.hpp"
#include "work.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <array>
#include <deque>
#include <vector>

namespace basal::bench {

namespace {

constexpr std::size_t num_banks = 8;
constexpr std::size_t num_taps = 32;

std::int64_t sample_at(std::int64_t i) {
  return computed(i, 1);
}

/// A finite impulse response. Results stay below 1000.
class response {
public:
  explicit response(std::int64_t seed) {
    for (std::size_t i = 0; i < num_taps; ++i)
      taps_[i] = computed(seed * 100 + static_cast<std::int64_t>(i), 1);
  }

  std::int64_t to(std::int64_t sample) {
    past_[next_] = sample;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < num_taps; ++i)
      sum += taps_[i] * past_[(next_ + i) % num_taps];
    next_ = (next_ + num_taps - 1) % num_taps;
    return sum % 1000;
  }

private:
  std::array<std::int64_t, num_taps> taps_{};
  std::array<std::int64_t, num_taps> past_{};
  std::size_t next_ = 0;
};

// Ends when the stage before it does, as nobody knows it then.
template <class Next>
caf::behavior filter(caf::event_based_actor* self, std::int64_t seed, Next send_on) {
  return {[=, filtering = response{seed}](std::int64_t sample) mutable {
    send_on(self, filtering.to(sample));
  }};
}

struct outputs {
  std::array<std::deque<std::int64_t>, num_banks> of_bank;
};

caf::behavior integrator(caf::stateful_actor<outputs>* self, std::int64_t samples,
                         const caf::actor& observer) {
  return {
    [=, sum = std::int64_t{0}, left = samples](std::size_t bank, std::int64_t output) mutable {
      auto& waiting = self->state.of_bank;
      waiting[bank].push_back(output);
      for (const auto& one : waiting)
        if (one.empty())
          return;
      std::int64_t together = 0;
      for (auto& one : waiting) {
        together += one.front();
        one.pop_front();
      }
      sum += together * (left % 10); // its place counts
      if (--left == 0) {
        self->send(observer, sum);
        self->quit();
      }
    }};
}

void source(caf::event_based_actor* self, std::int64_t samples, const caf::actor& last) {
  std::vector<caf::actor> banks;
  for (std::size_t bank = 0; bank < num_banks; ++bank) {
    auto to_last
      = [=](caf::event_based_actor* from, std::int64_t output) { from->send(last, bank, output); };
    const auto seed = static_cast<std::int64_t>(2 * bank);
    const auto second = self->spawn(filter<decltype(to_last)>, seed + 1, to_last);
    auto to_second
      = [=](caf::event_based_actor* from, std::int64_t output) { from->send(second, output); };
    banks.push_back(self->spawn(filter<decltype(to_second)>, seed, to_second));
  }
  for (std::int64_t i = 0; i < samples; ++i)
    for (const auto& bank : banks)
      self->send(bank, sample_at(i));
}

} // namespace

extern constinit const program filter_bank{
  .name = "filter_bank",
  .size = 2'000,
  .quick_size = 500,
  .run =
    [](caf::actor_system& system, std::int64_t size) {
      observer watching{system};
      system.spawn(source, size, system.spawn(integrator, size, watching.handle()));
      return watching.sum_of_answers();
    },
  .expected =
    [](std::int64_t size) {
      std::int64_t sum = 0;
      for (std::size_t bank = 0; bank < num_banks; ++bank) {
        const auto seed = static_cast<std::int64_t>(2 * bank);
        response first{seed};
        response second{seed + 1};
        for (std::int64_t i = 0; i < size; ++i)
          sum += second.to(first.to(sample_at(i))) * ((size - i) % 10);
      }
      return sum;
    },
};

} // namespace basal::bench
