// MB3 and MB7: a stream of items, one at a time, offloaded always or by choice.

#include "bench/evaluation/report.hpp"
#include "bench/evaluation/work.hpp"

#include <benchmark/benchmark.h>

#include <basal/mab/mab.hpp>

#include <atomic>
#include <cmath>

namespace basal::evaluation {

using namespace mab;

namespace {

constexpr int items = 500;
constexpr double differences_apart = 2; // in the source 1.24; the least is a few us
constexpr load stream_load{2, 1, 0};    // of a stream on two message executors

using work_of_item = std::function<void(int item)>;

struct speed {
  double items_per_s = 0;     // wall time
  double cpu_us_per_item = 0; // of all threads
};

// One stream with a chooser of its own.
speed one_stream(const work_of_item& work, const knobs& k, compute_threads& pool) {
  family own{"stream", k};
  chooser c{own};
  splitmix64 random{1};
  const double cpu_start = process_cpu_us();
  const auto start = clock::now();
  for (int i = 0; i < items; ++i) {
    auto d = c.choose(stream_load, random);
    const auto item_start = clock::now();
    double elapsed_us = 0;
    const auto handler = [&] {
      const auto work_start = clock::now();
      work(i);
      elapsed_us = us_since(work_start);
    };
    if (d.choice() == arm::inline_here)
      handler();
    else
      pool.run_and_wait(handler);
    d.finish(
      {.cost = microseconds{us_since(item_start)}, .function_time = microseconds{elapsed_us}});
  }
  return {items / us_since(start) * 1e6, (process_cpu_us() - cpu_start) / items};
}

// Medians of each member.
speed median_of(const std::vector<speed>& runs) {
  std::vector<double> rates;
  std::vector<double> cpu;
  for (const auto& x : runs) {
    rates.push_back(x.items_per_s);
    cpu.push_back(x.cpu_us_per_item);
  }
  return {median(rates), median(cpu)};
}

struct comparison {
  speed offload;
  speed adaptive;

  double ratio() const {
    return adaptive.items_per_s / offload.items_per_s;
  }

  double difference_us() const {
    return 1e6 / offload.items_per_s - 1e6 / adaptive.items_per_s;
  }
};

// Interleaved runs.
comparison measure(const work_of_item& work, const knobs& k, compute_threads& pool, int runs) {
  knobs always = k;
  always.chosen_by = policy::always_offload;
  std::vector<speed> offload;
  std::vector<speed> adaptive;
  for (int i = 0; i < runs; ++i) {
    offload.push_back(one_stream(work, always, pool));
    adaptive.push_back(one_stream(work, k, pool));
  }
  return {median_of(offload), median_of(adaptive)};
}

double calibrated_us(compute_threads& pool) {
  return calibrate([&] { pool.run_and_wait([] {}); }, [] { return clock::now(); }).overhead_us();
}

// Of ten items six are the first kind, three the second, one the third.
template <class T>
T mixed(int item, T first, T second, T third) {
  return item % 10 < 6 ? first : item % 10 < 9 ? second : third;
}

std::vector<std::string> row(const std::string& name, const comparison& c,
                             const std::string& source) {
  return {name,
          number(c.offload.items_per_s),
          number(c.adaptive.items_per_s),
          speed_up(c.ratio()),
          number(c.difference_us()),
          number(c.offload.cpu_us_per_item) + " / " + number(c.adaptive.cpu_us_per_item),
          source};
}

work_of_item loop(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return [=](int item) {
    auto sum = iterate(mixed(item, a, b, c));
    benchmark::DoNotOptimize(sum);
  };
}

work_of_item spin(double a, double b, double c) {
  return [=](int item) { spin_us(mixed(item, a, b, c)); };
}

} // namespace

void throughput(report& r, const options& o) {
  const int runs = o.quick ? 3 : 7;
  compute_threads pool{1};
  knobs k;
  k.offload_overhead_us = calibrated_us(pool);
  const std::vector<std::string> header = {"workload",
                                           "always offload /s",
                                           "adaptive /s",
                                           "speed-up",
                                           "difference us/item",
                                           "CPU us/item: offload / adaptive",
                                           "source: /s, /s, speed-up, difference"};

  const auto start = clock::now();
  auto sum = iterate(50'000'000);
  benchmark::DoNotOptimize(sum);
  const double ns_per_iteration = us_since(start) * 1000 / 50e6;

  r.heading("MB3. Throughput of one stream, one item at a time");
  r.paragraph("Model: corrected; overhead calibrated at start: " + number(k.offload_overhead_us)
              + " us. Medians of " + std::to_string(runs) + " interleaved runs of 500 items.");
  r.paragraph("(a) The source's work. It means 100 loop iterations to be a microsecond; one takes "
              + number(ns_per_iteration) + " ns here, so its \"10 us\" are "
              + number(ns_per_iteration) + " us.");
  const auto fast = measure(loop(1000, 1000, 1000), k, pool, runs);
  const auto medium = measure(loop(10'000, 10'000, 10'000), k, pool, runs);
  const auto slow = measure(loop(50'000, 50'000, 50'000), k, pool, runs);
  const auto mixed_loops = measure(loop(1000, 10'000, 50'000), k, pool, runs);
  r.table({header, row("\"10 us\" (1,000 iterations)", fast, "85,761, 1,392,286, +1523 %, 10.9"),
           row("\"100 us\" (10,000)", medium, "55,222, 209,818, +280 %, 13.3"),
           row("\"500 us\" (50,000)", slow, "27,802, 44,509, +60 %, 13.5"),
           row("mixed 60/30/10", mixed_loops, "58,673, 249,178, +325 %, 13.0")});
  const double differences[] = {fast.difference_us(), medium.difference_us(), slow.difference_us(),
                                mixed_loops.difference_us()};
  const double apart = bench::spread_ratio(differences);
  using bench::standing;
  r.judge({"MB3", "difference in us per item, greatest over least of the four rows",
           standing::ratio, "1.24", apart, bench::at_most(differences_apart)});
  r.judge({"MB3", "speed-up of fast work", standing::absolute, "+1523 %", fast.ratio()});
  r.judge({"MB3", "speed-up of mixed work (REQ-PERF-3)", standing::ratio, "4.25",
           mixed_loops.ratio(), bench::at_least(1)});
  r.paragraph(
    "A stream of true 10 us items cannot exceed 100,000/s, so the source's 1,392,286/s "
    "disproves its label. What travels between machines is the difference: the round "
    "trip that an inline run saves. The source's differ by a factor of 1.24 over its rows, "
    "ours by "
    + number(apart) + (apart <= differences_apart ? "" : ", which is too much")
    + ". It is this pool's round trip, not a published constant.");

  r.paragraph("(b) The same with true times.");
  const auto true_10 = measure(spin(10, 10, 10), k, pool, runs);
  const auto true_100 = measure(spin(100, 100, 100), k, pool, runs);
  const auto true_500 = measure(spin(500, 500, 500), k, pool, runs);
  const auto true_mixed = measure(spin(10, 100, 500), k, pool, runs);
  r.table({header, row("10 us", true_10, "none"), row("100 us", true_100, "none"),
           row("500 us", true_500, "none"), row("mixed 60/30/10", true_mixed, "none")});
  r.judge({"MB3", "speed-up of true 10 us", standing::ratio, "none", true_10.ratio(),
           bench::at_least(1.1)});
  r.judge({"MB3", "speed-up of true 100 us", standing::ratio, "none", true_100.ratio(),
           bench::at_least(0.97)});
  r.judge({"MB3",
           "speed-up of true 500 us, which GR1 offloads either way",
           standing::ratio,
           "none",
           true_500.ratio(),
           {0.95, 1.1}});
  r.judge({"MB3", "speed-up of true mixed work", standing::ratio, "none", true_mixed.ratio(),
           bench::at_least(0.95)});
  r.paragraph(
    "The honest gain is " + speed_up(true_10.ratio()) + " for 10 us, " + speed_up(true_100.ratio())
    + " for 100 us and " + speed_up(true_500.ratio())
    + " for 500 us, "
      "which guardrail GR1 offloads under either strategy (REQ-1 of the source forbids "
      "inlining it, so its +60 % for \"slow\" work could not have been). Wall times: other "
      "programs on the machine disturb them, the longer the work the more.");
}

void thread_ratios(report& r, const options& o) {
  const int runs = o.quick ? 3 : 5;
  std::vector<std::vector<std::string>> rows
    = {{"message : compute threads", "always offload /s", "adaptive /s", "speed-up"}};
  std::vector<double> ratios;
  for (const auto& [message, compute] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 2}}) {
    compute_threads pool{compute};
    const compute_threads idle_message_threads{message - 1};
    knobs k;
    k.offload_overhead_us = calibrated_us(pool);
    const auto c = measure(spin(10, 100, 500), k, pool, runs);
    rows.push_back({std::to_string(message) + " : " + std::to_string(compute),
                    number(c.offload.items_per_s), number(c.adaptive.items_per_s),
                    speed_up(c.ratio())});
    ratios.push_back(c.ratio());
  }
  r.heading("MB7. Thread ratios, mixed work of 10, 100 and 500 us");
  r.table(rows);
  r.paragraph("Model: corrected. Source (1:15, 2:14, 8:8, mislabelled work): +309, +347, +282 %. "
              "No effect is expected: one sequential "
              "stream keeps one thread busy at a time, however many there are. Its ratios need 16 "
              "cores; these are the ones that fit two.");
  r.judge({"MB7", "speed-ups, greatest over least of four ratios", bench::standing::ratio, "1.16",
           bench::spread_ratio(ratios), bench::at_most(1.3), "no effect is expected"});
  r.judge({.table = "MB7",
           .what = "speed-up at 1:15, 2:14, 8:8 threads",
           .kind = bench::standing::unreachable,
           .source = "+309/+347/+282 %",
           .why = "16 cores, and work that is not what its label says"});
}

} // namespace basal::evaluation
