// How long an echo takes while other actors' handlers compute, everything with its default
// settings: with the computation declared as a pure function on basal, with the plain function in
// an adaptive handler, and with the plain function on stock CAF.
//
// A message leaves every millisecond, whether those before it were answered or not. In each case
// two loads: computations of 30 ms that come evenly and take 30 % of all CPUs' time; and,
// `_saturated`, as many computing handlers as there are CPUs, for 300 ms each. The figures:
//
// echo_p99_under_load_ms         from send() to the echo's handler: the scheduler's part
// echo_p999_under_load_ms        the same, 1 in 1000
// echo_seen_p99_under_load_ms    from when the message was due to when the client has its
//                                answer. The kernel lets the client's thread wait for its turn,
//                                too, twice a message.

#include "bench/posse/fib.hpp"
#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/executors/placement.hpp>
#include <basal/posse/posse.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace basal;
using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

using compute = caf::atom_constant<caf::atom("compute")>;
using computed = caf::atom_constant<caf::atom("computed")>;

constexpr std::int64_t fib_of_25 = 75'025;

std::int64_t plain_fib(int n) {
  return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2);
}

// `times` times the 25th Fibonacci number, computed anew each time.

std::int64_t plain_sum(std::int64_t times) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < times; ++i)
    sum += plain_fib(bench::opaque(25));
  return sum;
}

std::int64_t sum(posse::member& m, std::int64_t times) {
  if (times == 1)
    return bench::fib(m, 25);
  auto [a, b] = m.fork_merge([=](auto& k) { return sum(k, times - times / 2); },
                             [=](auto& k) { return sum(k, times / 2); });
  return a + b;
}

inline constexpr posse::pure<sum> pure_sum{"sum"};

caf::behavior plain_computer() {
  return {[](compute, std::int64_t times) {
    return caf::make_message(computed::value, plain_sum(times));
  }};
}

caf::behavior adaptive_computer(caf::event_based_actor* self) {
  return {actors::adaptive(self, [](compute, std::int64_t times) {
    return caf::make_message(computed::value, plain_sum(times));
  })};
}

caf::behavior pure_computer(caf::event_based_actor* self) {
  return {[self](compute, std::int64_t times) {
    return caf::make_message(computed::value, pure_sum(self, times));
  }};
}

// Stamps travel as counts: CAF cannot send a time_point of this clock.
std::int64_t stamp() {
  return clock_type::now().time_since_epoch().count();
}

caf::behavior echo() {
  return {[](std::int64_t number) { return caf::make_message(number, stamp()); }};
}

struct latencies {
  std::vector<nanoseconds> handled;
  std::vector<nanoseconds> seen;
};

/// Computations that begin one `interval` after the other.
struct load {
  std::size_t computations;
  nanoseconds interval;
  std::int64_t times; ///< of plain_sum()
};

/// Sends one message a millisecond to `echoing` from now on until all computations have ended and
/// all messages are answered.
class round_of_echoes {
public:
  round_of_echoes(caf::scoped_actor& self, const caf::actor& echoing, latencies& into)
    : self_(self), echoing_(echoing), into_(into) {
  }

  void run(const std::vector<caf::actor>& computers, const load& wanted) {
    std::size_t begun = 0;
    while (computed_ < wanted.computations || answered_ < sent_.size()) {
      const auto now = clock_type::now();
      const auto next_load = start_ + static_cast<std::int64_t>(begun) * wanted.interval;
      if (begun < wanted.computations && now >= next_load) {
        self_->send(computers.at(begun++ % computers.size()), compute::value, wanted.times);
        continue;
      }
      const auto all_computed = computed_ == wanted.computations;
      const auto next_due = due(sent_.size());
      if (all_computed)
        receive(now + give_up, wanted.times, true);
      else if (now < next_due)
        receive(begun < wanted.computations ? std::min(next_due, next_load) : next_due,
                wanted.times, false);
      else
        send_echo();
    }
  }

private:
  static constexpr nanoseconds interval = std::chrono::milliseconds{1};
  static constexpr nanoseconds give_up = std::chrono::seconds{30};

  clock_type::time_point due(std::size_t number) const {
    return start_ + static_cast<std::int64_t>(number) * interval;
  }

  void send_echo() {
    sent_.push_back(stamp());
    self_->send(echoing_, static_cast<std::int64_t>(sent_.size() - 1));
  }

  void receive(clock_type::time_point until, std::int64_t times, bool last_ones) {
    self_->receive(
      [&](std::int64_t number, std::int64_t handled) {
        const auto index = static_cast<std::size_t>(number);
        into_.handled.emplace_back(handled - sent_.at(index));
        into_.seen.push_back(clock_type::now() - due(index));
        ++answered_;
      },
      [&](computed, std::int64_t result) {
        if (result != times * fib_of_25)
          throw std::runtime_error("the computation is wrong");
        ++computed_;
      },
      caf::after(until - clock_type::now()) >>
        [&] {
          if (last_ones || clock_type::now() > start_ + give_up)
            throw std::runtime_error("no echo, or no result of a computation, for 30 s");
        });
  }

  caf::scoped_actor& self_;
  const caf::actor& echoing_;
  latencies& into_;
  const clock_type::time_point start_ = clock_type::now();
  std::vector<std::int64_t> sent_; // stamps, by number
  std::size_t answered_ = 0;
  std::size_t computed_ = 0;
};

/// How many times plain_sum() must add to take so long.
std::int64_t times_for(nanoseconds wanted) {
  constexpr std::int64_t tried = 100;
  auto fastest = nanoseconds::max();
  for (int i = 0; i < 3; ++i) {
    const auto start = clock_type::now();
    if (plain_sum(tried) != tried * fib_of_25)
      throw std::runtime_error("plain_fib(25) is wrong");
    fastest = std::min<nanoseconds>(fastest, clock_type::now() - start);
  }
  return std::max<std::int64_t>(1, wanted * tried / fastest);
}

constexpr nanoseconds round_length = std::chrono::milliseconds{300};

load thirty_percent() {
  constexpr nanoseconds each = std::chrono::milliseconds{30};
  const auto count = executors::usable_cpus() * 3;
  return {count, round_length / static_cast<std::int64_t>(count), times_for(each)};
}

load saturated() {
  return {executors::usable_cpus(), nanoseconds{0}, times_for(round_length)};
}

template <class Config, class Computer>
latencies measure(Computer computer, const load& wanted, bool quick) {
  Config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  std::vector<caf::actor> computing;
  for (std::size_t i = 0; i < executors::usable_cpus(); ++i)
    computing.push_back(system.spawn(computer));
  const auto echoing = system.spawn(echo);
  latencies all;
  for (int round = 0; round < (quick ? 3 : 10); ++round)
    round_of_echoes{self, echoing, all}.run(computing, wanted);
  std::sort(all.handled.begin(), all.handled.end());
  std::sort(all.seen.begin(), all.seen.end());
  return all;
}

double permille_ms(const std::vector<nanoseconds>& sorted, std::size_t permille) {
  return std::chrono::duration<double, std::milli>{sorted.at(sorted.size() * permille / 1000)}
    .count();
}

/// Adds the figures of `Computer` under both loads. Each is measured once, by the first that asks.
template <class Config, auto Computer>
void measure_both(bench::plan& plan, const std::string& suffix) {
  static std::vector<latencies> known[2];
  const auto quick = plan.quick();
  for (const bool full : {false, true}) {
    const auto all = [=]() -> const latencies& {
      auto& here = known[full ? 1 : 0];
      if (here.empty())
        here.push_back(measure<Config>(Computer, full ? saturated() : thirty_percent(), quick));
      return here.front();
    };
    const auto end = suffix + (full ? "_saturated" : "");
    plan.measure("echo_p99_under_load_ms" + end, [=] { return permille_ms(all().handled, 990); });
    plan.measure("echo_p999_under_load_ms" + end, [=] { return permille_ms(all().handled, 999); });
    plan.measure("echo_seen_p99_under_load_ms" + end, [=] { return permille_ms(all().seen, 990); });
  }
}

const bench::suite echo_suite{[](bench::plan& plan) {
  measure_both<actor_system_config, pure_computer>(plan, "");
  measure_both<actor_system_config, adaptive_computer>(plan, "_adaptive");
  measure_both<caf::actor_system_config, plain_computer>(plan, "_caf");
}};

} // namespace
