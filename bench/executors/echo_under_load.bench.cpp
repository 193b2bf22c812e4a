// How long an echo takes while another actor's handler computes for 300 ms on the only message
// executor: with the computation declared as a pure function on basal, and with the plain function
// on stock CAF.
//
// A message leaves every millisecond, whether those before it were answered or not. Two figures:
//
// echo_p99_under_load_ms         from send() to the echo's handler: the scheduler's part
// echo_seen_p99_under_load_ms    from when the message was due to when the client has its answer.
//                                With the computation on both of two CPUs, the kernel lets the
//                                client's thread wait for its turn, too, twice a message.

#include "bench/posse/fib.hpp"
#include "bench/support/bench.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/posse/posse.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
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

/// Sends one message a millisecond to `echoing` from now on until the computation has ended and all
/// messages are answered.
class round_of_echoes {
public:
  round_of_echoes(caf::scoped_actor& self, const caf::actor& echoing, latencies& into)
    : self_(self), echoing_(echoing), into_(into) {
  }

  void run(const caf::actor& computer, std::int64_t times) {
    self_->send(computer, compute::value, times);
    while (!computed_ || answered_ < sent_.size()) {
      const auto next_due = due(sent_.size());
      if (computed_ || clock_type::now() < next_due) {
        receive(computed_ ? clock_type::now() + give_up : next_due, times);
      } else {
        sent_.push_back(stamp());
        self_->send(echoing_, static_cast<std::int64_t>(sent_.size() - 1));
      }
    }
  }

private:
  static constexpr nanoseconds interval = std::chrono::milliseconds{1};
  static constexpr nanoseconds give_up = std::chrono::seconds{30};

  clock_type::time_point due(std::size_t number) const {
    return start_ + static_cast<std::int64_t>(number) * interval;
  }

  void receive(clock_type::time_point until, std::int64_t times) {
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
        computed_ = true;
      },
      caf::after(until - clock_type::now()) >>
        [&] {
          if (computed_ || clock_type::now() > start_ + give_up)
            throw std::runtime_error("no echo, or no result of the computation, for 30 s");
        });
  }

  caf::scoped_actor& self_;
  const caf::actor& echoing_;
  latencies& into_;
  const clock_type::time_point start_ = clock_type::now();
  std::vector<std::int64_t> sent_; // stamps, by number
  std::size_t answered_ = 0;
  bool computed_ = false;
};

/// How many times plain_sum() must add to take 300 ms.
std::int64_t times_for_300_ms() {
  constexpr std::int64_t tried = 100;
  auto fastest = nanoseconds::max();
  for (int i = 0; i < 3; ++i) {
    const auto start = clock_type::now();
    if (plain_sum(tried) != tried * fib_of_25)
      throw std::runtime_error("plain_fib(25) is wrong");
    fastest = std::min<nanoseconds>(fastest, clock_type::now() - start);
  }
  return std::max<std::int64_t>(1, std::chrono::milliseconds{300} * tried / fastest);
}

template <class Computer>
latencies measure(caf::actor_system_config& config, Computer computer, bool quick) {
  const auto times = times_for_300_ms();
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto computing = system.spawn(computer);
  const auto echoing = system.spawn(echo);
  latencies all;
  for (int round = 0; round < (quick ? 2 : 10); ++round)
    round_of_echoes{self, echoing, all}.run(computing, times);
  std::sort(all.handled.begin(), all.handled.end());
  std::sort(all.seen.begin(), all.seen.end());
  return all;
}

// Each measured once, by the first figure that asks.

const latencies& on_basal(bool quick) {
  static const auto all = [=] {
    actor_system_config config;
    config.set("basal.message-executors", std::size_t{1});
    config.set("basal.compute-executors", std::size_t{1});
    return measure(config, pure_computer, quick);
  }();
  return all;
}

const latencies& on_stock_caf(bool quick) {
  static const auto all = [=] {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", std::size_t{1});
    return measure(config, plain_computer, quick);
  }();
  return all;
}

double p99_ms(const std::vector<nanoseconds>& sorted) {
  return std::chrono::duration<double, std::milli>{sorted.at(sorted.size() * 99 / 100)}.count();
}

const bench::suite echo_suite{[](bench::plan& plan) {
  const bool quick = plan.quick();
  plan.measure("echo_p99_under_load_ms", [=] { return p99_ms(on_basal(quick).handled); });
  plan.measure("echo_seen_p99_under_load_ms", [=] { return p99_ms(on_basal(quick).seen); });
  plan.measure("echo_p99_under_load_ms_caf", [=] { return p99_ms(on_stock_caf(quick).handled); });
}};

} // namespace
