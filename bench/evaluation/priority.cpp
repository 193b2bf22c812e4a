// PB1 to PB5: the tables of MeTTaTron's hybrid P² scheduler.

#include "bench/evaluation/report.hpp"
#include "bench/evaluation/work.hpp"
#include "bench/support/keep.hpp"
#include "tests/priority/virtual_server.hpp"

#include <basal/executors/executor_pool.hpp>
#include <basal/priority/background_pool.hpp>
#include <basal/priority/detail/p2_quantile.hpp>
#include <basal/priority/evaluation.hpp>
#include <basal/priority/priority_queue.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace basal::evaluation {

using bench::standing;

namespace {

// Of one push and one pop with `depth` values inside, in ns.
double push_pop_ns(std::size_t depth, int pairs) {
  priority::priority_queue<int> queue{{.capacity = depth + 1}};
  priority::priority_queue<int>::consumer consumer{queue, 0};
  std::mt19937_64 random{1};
  std::uniform_real_distribution key{0.0, 1.0};
  for (std::size_t i = 0; i < depth; ++i)
    queue.try_push(key(random), 0, 0);
  std::vector<double> keys(4096);
  std::generate(keys.begin(), keys.end(), [&] { return key(random); });
  const auto start = clock::now();
  for (int i = 0; i < pairs; ++i) {
    queue.try_push(keys[static_cast<std::size_t>(i) % keys.size()], i, 0);
    queue.try_pop(consumer);
  }
  return us_since(start) * 1e3 / pairs;
}

// The same on a queue without an order, behind a mutex.
double plain_push_pop_ns(std::size_t depth, int pairs) {
  std::mutex mutex;
  std::deque<int> queue(depth);
  int sum = 0;
  const auto start = clock::now();
  for (int i = 0; i < pairs; ++i) {
    {
      const std::lock_guard guard{mutex};
      queue.push_back(i);
    }
    const std::lock_guard guard{mutex};
    sum += queue.front();
    queue.pop_front();
  }
  const double ns = us_since(start) * 1e3 / pairs;
  bench::keep(sum);
  return ns;
}

} // namespace

void queue_costs(report& r, const options& o) {
  const int pairs = o.quick ? 100'000 : 1'000'000;
  const auto middle = [](auto measure) {
    std::vector<double> ns;
    for (int i = 0; i < 5; ++i)
      ns.push_back(measure());
    return median(ns);
  };
  // Interleaved, since the ratios count.
  std::vector<double> plains;
  std::vector<double> at_100;
  std::vector<double> at_1000;
  std::vector<double> at_100000;
  for (int i = 0; i < 9; ++i) {
    plains.push_back(plain_push_pop_ns(1000, pairs / 4));
    at_100.push_back(push_pop_ns(100, pairs / 4));
    at_1000.push_back(push_pop_ns(1000, pairs / 4));
    at_100000.push_back(push_pop_ns(100'000, pairs / 4));
  }
  const double plain = median(plains);
  const double shallow = median(at_100);
  const double ours = median(at_1000);
  const double deep = median(at_100000);

  executors::executor_pool executors{{.executors = 1}};
  auto& pool = priority::background_pool::of(executors);
  const double score = middle([&] {
    const auto start = clock::now();
    double last = 0;
    for (int i = 0; i < pairs; ++i)
      last = pool.key_now({priority::level::normal, priority::task_key{"eval", 7}});
    bench::keep(last);
    return us_since(start) * 1e3 / pairs;
  });
  const double wake = middle([&] {
    std::vector<double> us;
    for (int i = 0; i < 50; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      const auto start = clock::now();
      pool.submit([] {}).get();
      us.push_back(us_since(start));
    }
    return median(us);
  });

  r.heading("PB1. Overheads");
  r.table({{"operation", "ours", "source"},
           {"score: clock, estimate and key, ns", number(score), "50 to 100"},
           {"push and pop, depth 100 / 1,000 / 100,000, ns",
            number(shallow) + " / " + number(ours) + " / " + number(deep), "100 to 200"},
           {"push and pop without an order, depth 1,000, ns", number(plain), "none"},
           {"task through a parked executor and back, us", number(wake), "0.5 to 1"}});
  r.judge({"PB1", "score, ns", standing::absolute, "50 to 100", score});
  r.judge({"PB1", "push and pop, depth 1,000, ns", standing::absolute, "100 to 200", ours});
  r.judge({"PB1", "push and pop over plain ones, depth 1,000", standing::ratio, "none",
           ours / plain, bench::at_most(3)});
  r.judge({"PB1", "push and pop at depth 100,000 over depth 100", standing::ratio, "none",
           deep / shallow, bench::at_most(10), "2.5 by the logarithms; 1,000 if it were linear"});
  r.judge({"PB1",
           "wake of a parked executor, us",
           standing::unreachable,
           "0.5 to 1",
           wake,
           {},
           "a futex wake alone takes longer"});
}

namespace {

template <class Draw>
double worst_error(int rounds, int n, double exact, Draw draw) {
  double worst = 0;
  for (int round = 1; round <= rounds; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round));
    priority::p2_quantile median;
    for (int i = 0; i < n; ++i)
      median.observe(draw(random));
    worst = std::max(worst, std::abs(median.value() - exact) / exact);
  }
  return worst;
}

} // namespace

void quantile_accuracy(report& r) {
  using random = std::mt19937_64;
  r.heading("PB2. Accuracy of P²: worst relative error of the median");
  std::vector<std::vector<std::string>> rows = {{"distribution", "n = 100", "1,000", "20,000"}};
  const auto add
    = [&](const std::string& name, double exact, auto draw, std::array<double, 3> limits) {
        std::vector<std::string> cells = {name};
        const std::array<std::pair<int, int>, 3> sizes = {{{200, 100}, {200, 1000}, {20, 20'000}}};
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          const double worst = worst_error(sizes[i].first, sizes[i].second, exact, draw);
          cells.push_back(percent(worst));
          r.judge({"PB2", name + ", n = " + std::to_string(sizes[i].second), standing::exact,
                   "accurate for most", worst, bench::at_most(limits[i])});
        }
        rows.push_back(cells);
      };
  add("uniform", 0.5, [](random& x) { return std::uniform_real_distribution(0.0, 1.0)(x); },
      {0.4, 0.1, 0.03});
  add("exponential", std::log(2.0), [](random& x) { return std::exponential_distribution(1.0)(x); },
      {0.6, 0.15, 0.05});
  add("log-normal", 1.0, [](random& x) { return std::lognormal_distribution(0.0, 1.0)(x); },
      {0.8, 0.2, 0.06});
  r.table(rows);

  // Table I of Jain and Chlamtac, CACM 28(10), 1985.
  priority::p2_quantile median;
  for (const double x : {0.02,  0.15,  0.74, 3.39, 0.83, 22.37, 10.15, 15.43, 38.62, 15.92,
                         34.60, 10.28, 1.47, 0.40, 0.05, 11.39, 0.27,  0.42,  0.09,  11.37})
    median.observe(x);
  constexpr double heights[] = {0.02, 0.4939, 4.4406, 17.2039, 38.62};
  constexpr std::int64_t positions[] = {1, 6, 10, 16, 20};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto marker = "paper's example, marker " + std::to_string(i + 1);
    r.judge({"PB2", marker + ", height", standing::exact, bench::figure_text(heights[i]),
             std::round(median.heights()[i] * 1e4) / 1e4, bench::equals(heights[i])});
    r.judge({"PB2", marker + ", position", standing::exact, std::to_string(positions[i]),
             static_cast<double>(median.positions()[i]),
             bench::equals(static_cast<double>(positions[i]))});
  }
}

void shortest_first(report& r) {
  using priority::level;
  const priority::weights w;
  std::vector<virtual_time::job> by_key;
  for (int i = 0; i < 1000; ++i) {
    const double runs_s = i % 10 == 3 ? 5e-3 : 0.1e-3;
    by_key.push_back({0, runs_s, w.key(level::normal, runs_s, 0)});
  }
  auto by_arrival = by_key;
  for (auto& j : by_arrival)
    j.key = 0;
  const auto mean_wait_ms = [](std::vector<virtual_time::job> jobs) {
    virtual_time::serve(jobs, 1e9);
    double sum = 0;
    for (const auto& j : jobs)
      sum += j.waited_s;
    return 1e3 * sum / static_cast<double>(jobs.size());
  };
  const double ours = mean_wait_ms(by_key);
  const double first_come = mean_wait_ms(by_arrival);

  // One server, half as much again as it can do, and one short task on each of two levels below.
  std::vector<virtual_time::job> overload;
  for (const auto at : {level::background_compile, level::batch})
    overload.push_back({0, 0.010, w.key(at, 0.010, 0)});
  for (double t = 0; t < 700; t += 0.020)
    overload.push_back({t, 0.030, w.key(level::normal, 0.030, t)});
  virtual_time::serve(overload, 1e9);

  r.heading("PB3. What the order is worth (virtual time)");
  r.table({{"1,000 tasks at once, 90 % of 0.1 ms, 10 % of 5 ms", "mean wait, ms"},
           {"by key", number(ours)},
           {"first come, first served", number(first_come)}});
  r.judge({"PB3", "mean wait, shortest first over first come", standing::exact, "lower",
           ours / first_come, bench::about(0.252, 0.1)});
  r.judge({"PB3", "overload: wait of a background_compile task, s", standing::exact,
           "none (never served)", overload[0].waited_s, bench::about(74.7, 0.002)});
  r.judge({"PB3", "overload: wait of a batch task, s", standing::exact, "none (never served)",
           overload[1].waited_s, bench::about(674.7, 0.002)});
}

namespace {

// Of a task of some microseconds, in bursts of 100, in us.
double spawned_us(std::size_t executor_count, priority::route way, int bursts) {
  executors::executor_pool executors{{.executors = executor_count}};
  auto& pool = priority::background_pool::build(executors, {.spawns = way});
  std::vector<double> us;
  for (int i = 0; i < bursts; ++i) {
    const auto start = clock::now();
    std::vector<priority::task_handle<std::uint64_t>> tasks;
    for (int j = 0; j < 100; ++j)
      tasks.push_back(pool.spawn({}, [] { return iterate(1500); }));
    for (auto& t : tasks)
      t.get();
    us.push_back(us_since(start) / 100);
  }
  return median(us);
}

} // namespace

void hybrid_paths(report& r, const options& o) {
  const int bursts = o.quick ? 100 : 500;
  std::vector<std::vector<std::string>> rows
    = {{"executors", "sequential path, us a task", "priority path, us a task"}};
  for (const std::size_t n : {1, 2, 4}) {
    std::vector<double> plain;
    std::vector<double> ordered;
    std::vector<double> ratios; // of neighbours in time
    for (int i = 0; i < 9; ++i) {
      plain.push_back(spawned_us(n, priority::route::plain, bursts / 5));
      ordered.push_back(spawned_us(n, priority::route::priority, bursts / 5));
      ratios.push_back(plain.back() / ordered.back());
    }
    rows.push_back({std::to_string(n), number(median(plain)), number(median(ordered))});
    r.judge({"PB4", "sequential path over priority path, " + std::to_string(n) + " executors",
             standing::ratio, "none", median(ratios), bench::at_most(1.1)});
  }
  r.heading("PB4. The two paths of spawn()");
  r.table(rows);
}

void priority_journal(report& r) {
  r.judge({.table = "PB5",
           .what = "programs per second of the tuning journal",
           .kind = standing::unreachable,
           .source = "825/1,995/4,304/3,563",
           .why = "another program on 18 cores, whose tasks never took the measured path"});
}

} // namespace basal::evaluation
