// Actors that compute: handlers with loops, sums and sorts of 25 us to 1 ms, by posse's functions,
// plain and in an adaptive handler, beside stock CAF whose handlers compute in sequence or with
// oneTBB. Default configurations, on 1, 2 and all CPUs.
//
//   relax    a loop over 20,000 floats
//   squares  a sum over 60,000 integers
//   sort     a merge sort of 20,000 integers
//
//   self_sent    an actor sends itself a message for each step, and one of a microsecond between
//   asked        a thread that is none of the system's asks for one step after the other
//   one_handler  all steps are in one handler
//   two_actors   two actors send themselves their steps
//   observed     an actor tells four others of each step, and does the next when all have answered
//
// computing_geomean_vs_best_peer  the best peer's time over basal's, at 2 CPUs and more
// computing_worst_vs_best_peer    the least of these
// adaptive_vs_plain_handlers      geometric mean of plain handlers' time over that of adaptive ones

#include "bench/support/bench.hpp"
#include "bench/support/cpus.hpp"
#include "bench/support/statistics.hpp"

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/posse/algorithm.hpp>
#include <basal/posse/pure.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace basal;

using number = std::uint64_t;

number scrambled(number x) {
  x ^= x >> 33;
  x *= 0xff51'afd7'ed55'8ccdu;
  x ^= x >> 33;
  return x * 0xc4ce'b9fe'1a85'ec53u;
}

// -- how handlers compute: the same functions of each library ----------------------------------

struct in_sequence {
  template <class Self, class Body>
  static void each(Self*, std::size_t n, const Body& body) {
    body(std::size_t{0}, n);
  }

  template <class Self, class Function>
  static number sum(Self*, const std::vector<std::uint32_t>& v, const Function& function) {
    number result = 0;
    for (const auto x : v)
      result += function(x);
    return result;
  }

  template <class Left, class Right>
  void both(const Left& left, const Right& right) {
    left(*this);
    right(*this);
  }

  static constexpr bool has_cut_off = true;
};

struct with_tbb {
  using range = tbb::blocked_range<std::size_t>;

  static inline int cpus = 1; ///< of the case; set before its threads begin

  /// Of the calling thread, as the one that oneTBB makes by itself, whose size is that of the
  /// process's first use of oneTBB.
  static tbb::task_arena& arena() {
    static thread_local tbb::task_arena mine{cpus};
    return mine;
  }

  template <class Self, class Body>
  static void each(Self*, std::size_t n, const Body& body) {
    arena().execute([&] {
      tbb::parallel_for(range{0, n}, [&](const range& r) { body(r.begin(), r.end()); });
    });
  }

  template <class Self, class Function>
  static number sum(Self*, const std::vector<std::uint32_t>& v, const Function& function) {
    return arena().execute([&] {
      return tbb::parallel_reduce(
        range{0, v.size()}, number{0},
        [&](const range& r, number so_far) {
          for (auto i = r.begin(); i != r.end(); ++i)
            so_far += function(v[i]);
          return so_far;
        },
        std::plus<>{});
    });
  }

  template <class Left, class Right>
  void both(const Left& left, const Right& right) {
    tbb::parallel_invoke([&] { left(*this); }, [&] { right(*this); });
  }

  static constexpr bool has_cut_off = true;
};

struct with_posse {
  posse::member* here = nullptr;

  template <class Self, class Body>
  static void each(Self* self, std::size_t n, const Body& body) {
    posse::for_each_chunk(self, n, body);
  }

  template <class Self, class Function>
  static number sum(Self* self, const std::vector<std::uint32_t>& v, const Function& function) {
    return posse::map_reduce(self, v, function, number{0});
  }

  template <class Left, class Right>
  void both(const Left& left, const Right& right) {
    const auto with = [](const auto& branch) {
      return [&branch](posse::member& m) {
        with_posse there{&m};
        branch(there);
      };
    };
    here->fork_merge(with(left), with(right));
  }

  static constexpr bool has_cut_off = false;
};

template <class Library>
void merge_sort(Library& library, std::uint32_t* first, std::uint32_t* spare, std::size_t n) {
  if (n <= 48) {
    std::sort(first, first + n);
    return;
  }
  const auto half = n / 2;
  const auto left = [=](auto& there) { merge_sort(there, first, spare, half); };
  const auto right = [=](auto& there) { merge_sort(there, first + half, spare + half, n - half); };
  if (Library::has_cut_off && n <= 2048) {
    in_sequence here;
    here.both(left, right);
  } else {
    library.both(left, right);
  }
  std::merge(first, first + half, first + half, first + n, spare);
  std::copy_n(spare, n, first);
}

inline constexpr posse::pure<[](posse::member& m, std::uint32_t* first, std::uint32_t* spare,
                                std::size_t n) {
  with_posse here{&m};
  merge_sort(here, first, spare, n);
}>
  sorted_in_parallel{"merge_sort"};

// -- what they compute: a step changes the state --------------------------------------------------

struct relax {
  static constexpr const char* name = "relax";
  static constexpr std::size_t size = 20'000;
  std::vector<float> place = std::vector<float>(size, 0.25F);
  std::vector<float> speed = std::vector<float>(size, 0.5F);

  template <class Library, class Self>
  void step(Self* self, int n) {
    const auto pull = static_cast<float>(n % 8) * 1e-4F;
    Library::each(self, size, [pull, x = place.data(), v = speed.data()](auto first, auto last) {
      for (auto i = first; i != last; ++i) {
        auto a = x[i];
        auto b = v[i];
        for (int k = 0; k != 4; ++k) {
          b += (0.5F - a) * 1e-3F + pull;
          a += b * 1e-3F;
          if (a < 0 || a > 1)
            b = -b;
        }
        x[i] = a;
        v[i] = b;
      }
    });
  }

  number answer() const {
    number result = 0;
    for (const auto x : place)
      result = result * 31 + static_cast<number>(x * 1e6F);
    return result;
  }
};

struct squares {
  static constexpr const char* name = "squares";
  std::vector<std::uint32_t> values = std::vector<std::uint32_t>(60'000, 7);
  number so_far = 1;

  template <class Library, class Self>
  void step(Self* self, int n) {
    values[scrambled(static_cast<number>(n)) % values.size()] += 1;
    so_far
      = so_far * 31 + Library::sum(self, values, [](std::uint32_t x) { return number{x} * x; });
  }

  number answer() const {
    return so_far;
  }
};

struct sort {
  static constexpr const char* name = "sort";
  number so_far = 1;

  template <class Library, class Self>
  void step(Self* self, int n) {
    std::vector<std::uint32_t> values(20'000);
    std::vector<std::uint32_t> spare(values.size());
    for (std::size_t i = 0; i != values.size(); ++i)
      values[i] = static_cast<std::uint32_t>(scrambled(i + static_cast<number>(n) * values.size()));
    if constexpr (std::is_same_v<Library, with_posse>) {
      sorted_in_parallel(self, values.data(), spare.data(), values.size());
    } else if constexpr (std::is_same_v<Library, with_tbb>) {
      with_tbb::arena().execute([&] {
        with_tbb here;
        merge_sort(here, values.data(), spare.data(), values.size());
      });
    } else {
      in_sequence here;
      merge_sort(here, values.data(), spare.data(), values.size());
    }
    so_far = so_far * 31 + values[values.size() / 3];
  }

  number answer() const {
    return so_far;
  }
};

// -- who asks for the steps --------------------------------------------------------------------

enum class driver { self_sent, asked, one_handler, two_actors, observed };

constexpr const char* name_of(driver how) {
  constexpr const char* names[] = {"self_sent", "asked", "one_handler", "two_actors", "observed"};
  return names[static_cast<int>(how)];
}

template <class Work>
struct worker_state {
  Work work;
  number between = 0;
  int answers = 0;
};

template <bool Adaptive, class Self, class Handler>
auto wrapped(Self* self, Handler handler) {
  if constexpr (Adaptive)
    return actors::adaptive(self, std::move(handler));
  else
    return handler;
}

/// Does the steps from 0 to below `steps`, and tells `whom`.
template <class Library, bool Adaptive, class Work>
caf::behavior sends_itself(caf::stateful_actor<worker_state<Work>>* self, int steps,
                           const caf::actor& whom) {
  return {wrapped<Adaptive>(self, [=](int n) {
    auto& s = self->state;
    if (n % 2 == 0)
      s.work.template step<Library>(self, n / 2);
    else
      for (int i = 0; i != 400; ++i)
        s.between = scrambled(s.between + 1);
    if (n + 1 < 2 * steps)
      self->send(self, n + 1);
    else
      self->send(whom, s.work.answer());
  })};
}

caf::behavior observes() {
  return {[](int n) { return static_cast<number>(n); }};
}

/// The same, and tells `observers` of each.
template <class Library, bool Adaptive, class Work>
caf::behavior is_observed(caf::stateful_actor<worker_state<Work>>* self, int steps,
                          const caf::actor& whom, const std::vector<caf::actor>& observers) {
  return {wrapped<Adaptive>(self,
                            [=](int n) {
                              self->state.work.template step<Library>(self, n);
                              for (const auto& observer : observers)
                                self->send(observer, n);
                            }),
          [=](number n) {
            auto& s = self->state;
            if (++s.answers != static_cast<int>(observers.size()))
              return;
            s.answers = 0;
            if (const int next = static_cast<int>(n) + 1; next < steps) {
              self->send(self, next);
              return;
            }
            for (const auto& observer : observers)
              self->send_exit(observer, caf::exit_reason::user_shutdown);
            self->send(whom, s.work.answer());
          }};
}

template <class Library, bool Adaptive, class Work>
caf::behavior is_asked(caf::stateful_actor<worker_state<Work>>* self) {
  return {wrapped<Adaptive>(self, [=](int first, int last) {
    for (int n = first; n != last; ++n)
      self->state.work.template step<Library>(self, n);
    return first + 1 == last ? number{0} : self->state.work.answer();
  })};
}

template <class Library, bool Adaptive, class Work>
number run(caf::actor_system& system, driver how, int steps) {
  caf::scoped_actor self{system};
  number sum = 0;
  const auto ask = [&](const caf::actor& worker, int first, int last) {
    self->request(worker, caf::infinite, first, last)
      .receive([&](number x) { sum += x; }, [](const caf::error&) {});
  };
  switch (how) {
  case driver::self_sent:
  case driver::two_actors: {
    const int actors = how == driver::self_sent ? 1 : 2;
    const caf::actor whom{self.ptr()};
    for (int i = 0; i != actors; ++i)
      self->send(system.spawn(sends_itself<Library, Adaptive, Work>, steps / actors, whom), 0);
    for (int i = 0; i != actors; ++i)
      self->receive([&](number x) { sum += x; });
    break;
  }
  case driver::asked: {
    const auto worker = system.spawn(is_asked<Library, Adaptive, Work>);
    for (int n = 0; n + 2 < steps; ++n)
      ask(worker, n, n + 1);
    ask(worker, steps - 2, steps);
    break;
  }
  case driver::observed: {
    const std::vector<caf::actor> observers{system.spawn(observes), system.spawn(observes),
                                            system.spawn(observes), system.spawn(observes)};
    const caf::actor whom{self.ptr()};
    self->send(system.spawn(is_observed<Library, Adaptive, Work>, steps, whom, observers), 0);
    self->receive([&](number x) { sum += x; });
    break;
  }
  case driver::one_handler:
    ask(system.spawn(is_asked<Library, Adaptive, Work>), 0, steps);
  }
  return sum;
}

template <class Work>
number expected(driver how, int steps) {
  const int actors = how == driver::two_actors ? 2 : 1;
  Work work;
  for (int n = 0; n != steps / actors; ++n)
    work.template step<in_sequence>(static_cast<caf::event_based_actor*>(nullptr), n);
  return static_cast<number>(actors) * work.answer();
}

// -- cases ----------------------------------------------------------------------------------------

struct measured {
  std::string plain;
  std::string adaptive;
  std::vector<std::string> peers;
};

template <class Library, bool Adaptive, class Work>
void measure(benchmark::State& state, caf::actor_system_config& config, driver how, int steps) {
  caf::actor_system system{config};
  bench::check(state, expected<Work>(how, steps),
               [&] { return run<Library, Adaptive, Work>(system, how, steps); });
}

template <class Work>
void add(bench::plan& plan, std::vector<measured>& all, driver how, int steps) {
  const auto workload = std::string{Work::name} + "_" + name_of(how);
  for (const int cpus : bench::cpu_counts()) {
    const auto name
      = [&](const char* impl) { return bench::case_name(workload, steps, impl, cpus); };
    const bench::case_options options{.baseline = name("caf"), .min_time_share = 0.1};
    const auto of_caf = [&]<class Library>(const char* impl, Library) {
      plan.add(
        name(impl),
        [=](benchmark::State& state) {
          const bench::cpu_limit limit{cpus};
          with_tbb::cpus = cpus;
          const tbb::global_control threads{tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(cpus)};
          caf::actor_system_config config;
          measure<Library, false, Work>(state, config, how, steps);
        },
        options);
    };
    const auto of_basal = [&]<bool Adaptive>(const char* impl, std::bool_constant<Adaptive>) {
      plan.add(
        name(impl),
        [=](benchmark::State& state) {
          const bench::cpu_limit limit{cpus};
          actor_system_config config;
          measure<with_posse, Adaptive, Work>(state, config, how, steps);
        },
        options);
    };
    of_caf("caf", in_sequence{});
    of_caf("caf_tbb", with_tbb{});
    of_basal("basal", std::false_type{});
    of_basal("basal_adaptive", std::true_type{});
    if (cpus > 1)
      all.push_back({name("basal"), name("basal_adaptive"), {name("caf"), name("caf_tbb")}});
  }
}

double versus_best_peer(const bench::results& r, const measured& x) {
  auto best = r.median_ns(x.peers.front());
  for (const auto& peer : x.peers)
    best = std::min(best, r.median_ns(peer));
  return best / r.median_ns(x.plain);
}

template <class Ratio>
std::vector<double> ratios_of(const std::vector<measured>& all, Ratio ratio) {
  if (all.empty())
    throw bench::not_measured("there is one CPU only");
  std::vector<double> result;
  for (const auto& x : all)
    result.push_back(ratio(x));
  return result;
}

const bench::suite computing{[](bench::plan& plan) {
  std::vector<measured> all;
  const int steps = plan.quick() ? 100 : 400;
  add<relax>(plan, all, driver::self_sent, steps);
  add<relax>(plan, all, driver::asked, steps);
  add<relax>(plan, all, driver::one_handler, steps);
  add<relax>(plan, all, driver::two_actors, steps);
  add<squares>(plan, all, driver::self_sent, steps);
  add<squares>(plan, all, driver::asked, steps);
  add<relax>(plan, all, driver::observed, steps);
  add<squares>(plan, all, driver::observed, steps);
  add<sort>(plan, all, driver::self_sent, steps / 10);
  add<sort>(plan, all, driver::two_actors, steps / 10);
  plan.figure("computing_geomean_vs_best_peer", [=](const bench::results& r) {
    return bench::geomean(
      ratios_of(all, [&](const measured& x) { return versus_best_peer(r, x); }));
  });
  plan.figure("computing_worst_vs_best_peer", [=](const bench::results& r) {
    const auto ratios = ratios_of(all, [&](const measured& x) { return versus_best_peer(r, x); });
    return *std::min_element(ratios.begin(), ratios.end());
  });
  plan.figure("adaptive_vs_plain_handlers", [=](const bench::results& r) {
    return bench::geomean(ratios_of(
      all, [&](const measured& x) { return r.median_ns(x.plain) / r.median_ns(x.adaptive); }));
  });
}};

} // namespace
