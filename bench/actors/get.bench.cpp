// A handler asks another actor for a number, a thousand times one after the other: with get(), in
// which its fiber waits, and with request().then(), whose answer is a message of its own. Default
// configuration, on 1, 2 and all CPUs.
//
// get_vs_then       the first over the second on all CPUs, without a time-out
// get_vs_then_1cpu  the same on one CPU
// get_vs_then_1s    the same on all CPUs with a time-out of a second

#include "bench/support/bench.hpp"
#include "bench/support/cpus.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/get.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace {

using namespace basal;
using namespace std::chrono_literals;

constexpr int trips = 1000;
constexpr int expected = trips * (trips + 1) / 2;

caf::behavior successor() {
  return {[](int x) { return x + 1; }};
}

caf::behavior with_get(caf::event_based_actor* self, const caf::actor& other,
                       const caf::duration& timeout) {
  return {[=](int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i)
      if (const auto answer = actors::get<int>(self, other, timeout, i))
        sum += *answer;
    return sum;
  }};
}

struct chain {
  caf::event_based_actor* self;
  caf::actor other;
  caf::duration timeout;
  caf::response_promise done;
  int count;

  static void next(const std::shared_ptr<chain>& x, int i, int sum) {
    if (i == x->count)
      return x->done.deliver(sum);
    x->self->request(x->other, x->timeout, i).then([=](int answer) {
      next(x, i + 1, sum + answer);
    });
  }
};

caf::behavior with_then(caf::event_based_actor* self, const caf::actor& other,
                        const caf::duration& timeout) {
  return {[=](int count) {
    auto x
      = std::make_shared<chain>(chain{self, other, timeout, self->make_response_promise(), count});
    chain::next(x, 0, 0);
    return x->done;
  }};
}

template <class Asker>
void measure(benchmark::State& state, int cpus, caf::duration timeout, Asker asker) {
  bench::cpu_limit limit{cpus};
  actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto worker = system.spawn(asker, system.spawn(successor), timeout);
  bench::check(state, expected, [&] {
    int result = 0;
    self->request(worker, caf::infinite, trips)
      .receive([&](int sum) { result = sum; }, [](const caf::error&) {});
    return result;
  });
}

const bench::suite get_suite{[](bench::plan& plan) {
  const int all = bench::cpu_counts().back();
  auto add = [&](const char* size, caf::duration timeout, int cpus) {
    const auto then = bench::case_name("ask", size, "then", cpus);
    const auto get = bench::case_name("ask", size, "get", cpus);
    const bench::case_options options{.baseline = then, .min_time_share = 0.5};
    plan.add(
      then, [=](benchmark::State& s) { measure(s, cpus, timeout, with_then); }, options);
    plan.add(
      get, [=](benchmark::State& s) { measure(s, cpus, timeout, with_get); }, options);
    return bench::ratio(get, then);
  };
  const caf::duration never{caf::infinite};
  for (const int cpus : bench::cpu_counts()) {
    const auto ratio = add("infinite", never, cpus);
    if (cpus == 1)
      plan.figure("get_vs_then_1cpu", ratio);
    if (cpus == all)
      plan.figure("get_vs_then", ratio);
  }
  plan.figure("get_vs_then_1s", add("1s", caf::duration{1s}, all));
}};

} // namespace
