// The parts of the observer that need no server.

#include <support/catch.hpp>

#include "access.hpp"
#include "actor_report.hpp"
#include "json.hpp"
#include "liveness.hpp"
#include "metrics.hpp"
#include "prometheus_text.hpp"
#include "sampler.hpp"

#include <basal/actors/actor_system_config.hpp>

#include <caf/actor_system.hpp>

#include <prometheus/text_serializer.h>

#include <chrono>
#include <cmath>
#include <sstream>
#include <stdexcept>

using namespace basal;
using namespace basal::observer;
using namespace std::chrono_literals;

namespace {

actors::actor_stats actor_numbers(const char* name, std::uint64_t messages, std::uint64_t busy_ns) {
  actors::actor_stats result;
  result.name = name;
  result.turns = messages;
  result.messages = messages;
  result.busy_ns = busy_ns;
  return result;
}

} // namespace

TEST_CASE("an address has a host of the loopback interface and a port") {
  CHECK(parse_address("127.0.0.1:80").port == 80);
  CHECK(parse_address("127.0.0.1").port == 7420);
  CHECK(parse_address("localhost:0").host == "127.0.0.1");
  CHECK(parse_address("127.1.2.3:5").host == "127.1.2.3");
  CHECK(parse_address("[::1]:81").port == 81);
  CHECK(parse_address("[::1]").host == "[::1]");
  for (const auto* wrong : {"", "::1", "128.0.0.1:1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:1x",
                            "127.0.0.1:65536", "[::1", "127.0.0.1,8.8.8.8:80"})
    CHECK_THROWS_AS(parse_address(wrong), std::invalid_argument);
}

TEST_CASE("metrics are written as prometheus-cpp writes them") {
  using prometheus::MetricType;
  std::vector<prometheus::MetricFamily> families;
  families.push_back({"a_total", "A count.", MetricType::Counter, {}});
  families.push_back({"b_seconds", "A gauge.", MetricType::Gauge, {}});
  families.push_back({"nothing", "There is none.", MetricType::Gauge, {}});
  double sign = 1;
  for (const double x : {0.0, 1.0, 0.25, 1e-6, 123456789.0, 9e15, 1.0 / 3, 6.5e-9, 4e18, 1e22,
                         std::nextafter(1.0, 2.0), double{INFINITY}, double{NAN}}) {
    auto& counter = families[0].metric.emplace_back();
    counter.counter.value = x;
    counter.label = {{"type", "<b>\"quoted\"\\\n\xc3\xa9"}, {"x", ""}};
    auto& gauge = families[1].metric.emplace_back();
    gauge.gauge.value = sign * x;
    sign = -sign;
  }
  families.push_back({"c_seconds", "Times.", MetricType::Histogram, {}});
  for (const double last : {4e-6, double{INFINITY}}) {
    auto& times = families.back().metric.emplace_back();
    times.label = {{"type", "t"}};
    if (std::isinf(last))
      times.label.clear();
    times.histogram = {7, 1.5, {{1, 1e-6}, {3, last}}};
  }
  std::istringstream ours{prometheus_text(families)};
  std::istringstream theirs{prometheus::TextSerializer{}.Serialize(families)};
  std::string a;
  std::string b;
  while (std::getline(theirs, b)) {
    REQUIRE(std::getline(ours, a));
    // The same number, maybe in other digits.
    const auto space = b.rfind(' ');
    CHECK(a.substr(0, a.rfind(' ')) == b.substr(0, space));
    if (b.starts_with('#'))
      CHECK(a == b);
    else if (const auto x = std::stod(b.substr(space)); !std::isnan(x))
      CHECK(std::stod(a.substr(a.rfind(' '))) == Approx(x).epsilon(1e-14));
    else
      CHECK(std::isnan(std::stod(a.substr(a.rfind(' ')))));
  }
  CHECK_FALSE(std::getline(ours, a));
}

TEST_CASE("a cookie is found by its whole name") {
  CHECK(cookie("a=1; b=2", "b") == "2");
  CHECK(cookie("ab=1;b=2;c=", "b") == "2");
  CHECK(cookie("ab=1", "b").empty());
  CHECK(cookie("b", "b").empty());
  CHECK(cookie("", "b").empty());
  CHECK(cookie("   ;;", "b").empty());
}

TEST_CASE("tokens are equal or not") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time("abc", "abc"));
  CHECK_FALSE(equal_in_constant_time("abc", "abd"));
  CHECK_FALSE(equal_in_constant_time("abc", "ab"));
}

TEST_CASE("a pool is dead when none of its executors has got anywhere for 30 s") {
  actors::system_stats stats;
  stats.message_executors.assign(2, {.tasks_run = 5, .load_permille = 1000});
  stats.compute_executors.assign(1, {.load_permille = 0}); // idle: it could
  const liveness::clock::time_point start{};
  liveness health;
  CHECK(health.look(stats, start).alive);
  CHECK(health.look(stats, start + 29s).alive);
  stats.message_executors[1].tasks_run = 6;
  CHECK(health.look(stats, start + 31s).alive);
  const auto dead = health.look(stats, start + 62s);
  CHECK_FALSE(dead.alive);
  CHECK(dead.text.starts_with("[-]message executors: "));
  CHECK(dead.text.find("[+]compute executors ok") != std::string::npos);
  stats.message_executors[0].suspensions = 1;
  CHECK(health.look(stats, start + 63s).alive);
}

TEST_CASE("a label has at most 200 values, and the rest are one") {
  actors::system_stats stats;
  for (int i = 0; i < 250; ++i)
    stats.posse.functions.push_back({.name = "f" + std::to_string(i), .calls = 2});
  const auto text = metrics_text(stats, {});
  CHECK(text.find("function=\"f199\"") != std::string::npos);
  CHECK(text.find("function=\"f200\"") == std::string::npos);
  CHECK(text.find("basal_function_calls_total{function=\"other\",mode=\"inline\"} 100\n")
        != std::string::npos);
  CHECK(text.find("basal_metrics_folded_labels 50\n") != std::string::npos);
}

TEST_CASE("types of actors have counts and histograms") {
  actors::system_stats stats;
  auto worker = actor_numbers("worker", 7, 3'000'000'000);
  worker.handlers = {.count = 7, .sum_ns = 2'000'000'000, .p50_ns = 0, .p99_ns = 0, .within = {}};
  worker.handlers.within.assign(actors::time_limits, 6);
  stats.actor_types.push_back(worker);
  const auto text = metrics_text(stats, {});
  for (const auto* line : {"basal_actor_messages_total{type=\"worker\"} 7\n",
                           "basal_actor_busy_seconds_total{type=\"worker\"} 3\n",
                           "basal_actor_processing_seconds_count{type=\"worker\"} 7\n",
                           "basal_actor_processing_seconds_sum{type=\"worker\"} 2\n",
                           "basal_actor_processing_seconds_bucket{type=\"worker\",le=\"+Inf\"} 7\n",
                           "basal_actor_scheduling_delay_seconds_count{type=\"worker\"} 0\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(text.find("_bucket{type=\"worker\",le=\"16.777216") != std::string::npos);
}

TEST_CASE("solves have counts by method and state, and histograms; without a solver, nothing") {
  actors::system_stats stats;
  CHECK(metrics_text(stats, {}).find("basal_solver") == std::string::npos);
  actors::time_stats times{.count = 9, .sum_ns = 4'500'000'000, .within = {}};
  times.within.assign(actors::time_limits, 8);
  times.within[0] = 3;
  stats.solver.methods.push_back({"gmres", {{"converged", 7}, {"stalled", 2}}, times});
  stats.solver.failures.push_back({"rejected", 4});
  stats.solver.waiting = 5;
  const auto text = metrics_text(stats, {});
  for (const auto* line : {"basal_solver_solves_total{method=\"gmres\",state=\"converged\"} 7\n",
                           "basal_solver_solves_total{method=\"gmres\",state=\"stalled\"} 2\n",
                           "basal_solver_solves_total{method=\"none\",state=\"rejected\"} 4\n",
                           "basal_solver_solve_seconds_count{method=\"gmres\"} 9\n",
                           "basal_solver_solve_seconds_sum{method=\"gmres\"} 4.5\n",
                           "basal_solver_solve_seconds_bucket{method=\"gmres\",le=\"1e-06\"} 3\n",
                           "basal_solver_solve_seconds_bucket{method=\"gmres\",le=\"+Inf\"} 9\n",
                           "basal_solver_waiting_requests 5\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("pauses of the collector are a histogram, also where there is no collector") {
  actors::system_stats stats;
  CHECK(metrics_text(stats, {}).find("basal_gc_pause_seconds_bucket{le=\"+Inf\"} 0\n")
        != std::string::npos);
  stats.heap_pauses = {.count = 9, .sum_ns = 1'500'000'000, .within = {}};
  stats.heap_pauses.within.assign(actors::time_limits, 8);
  stats.heap_pauses.within[0] = 2;
  const auto text = metrics_text(stats, {});
  for (const auto* line :
       {"# TYPE basal_gc_pause_seconds histogram\n", "basal_gc_pause_seconds_count 9\n",
        "basal_gc_pause_seconds_sum 1.5\n", "basal_gc_pause_seconds_bucket{le=\"1e-06\"} 2\n",
        "basal_gc_pause_seconds_bucket{le=\"+Inf\"} 9\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("background tasks are counted by level, also at levels at which there was none") {
  actors::system_stats stats;
  stats.background.levels.push_back({.name = "batch",
                                     .done = 3,
                                     .timed_out = 4,
                                     .queued_now = 5,
                                     .running_now = 6,
                                     .oldest_us = 7'500'000});
  stats.background.levels.push_back({.name = "of another version", .done = 8});
  const auto text = metrics_text(stats, {});
  for (const auto* line : {"basal_priority_tasks_total{level=\"batch\",outcome=\"done\"} 3\n",
                           "basal_priority_tasks_total{level=\"batch\",outcome=\"timed_out\"} 4\n",
                           "basal_priority_tasks_total{level=\"normal\",outcome=\"done\"} 0\n",
                           "basal_priority_queued_tasks{level=\"interactive\"} 0\n",
                           "basal_priority_queued_tasks{level=\"batch\"} 5\n",
                           "basal_priority_running_tasks{level=\"batch\"} 6\n",
                           "basal_priority_oldest_task_seconds{level=\"batch\"} 7.5\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(text.find("of another version") == std::string::npos);
}

TEST_CASE("of actors, a report has what they did in its window, sorted") {
  sample before;
  sample now;
  now.taken = before.taken + 1500ms;
  before.stats.actor_types = {actor_numbers("a", 100, 900), actor_numbers("b", 10, 5)};
  now.stats.actor_types
    = {actor_numbers("a", 130, 901), actor_numbers("b", 11, 95), actor_numbers("c", 5, 20)};
  const auto report = [&](actor_order order, std::size_t limit) {
    return json::parse(actor_report(before, now, order, limit));
  };
  const auto by_time = report(actor_order::busy, 2);
  CHECK(by_time["window_ms"] == 1500);
  REQUIRE(by_time["types"].size() == 2);
  CHECK(by_time["types"][0]["name"] == "b");
  CHECK(by_time["types"][0]["busy_ns"] == 90);
  CHECK(by_time["types"][1]["name"] == "c"); // as it is: it was not there before
  const auto by_messages = report(actor_order::messages, 3);
  CHECK(by_messages["types"][0]["name"] == "a");
  CHECK(by_messages["types"][0]["messages"] == 30);
  now.stats.actor_types[0] = actor_numbers("a", 1, 7); // anew
  CHECK(report(actor_order::busy, 3)["types"][2]["busy_ns"] == 7);
  CHECK(parse_actor_order("delay") == actor_order::delay);
  CHECK(parse_actor_order("Busy") == std::nullopt);
}

TEST_CASE("sums of a metric mean something: its values are parts of a whole") {
  actors::system_stats stats;
  stats.message_executors.push_back({.tasks_run = 100,
                                     .tasks_stolen = 10,
                                     .lifo_hits = 20,
                                     .injection_hits = 5,
                                     .deliveries = 1,
                                     .background_tasks = 4,
                                     .wake_ups = 2,
                                     .spin_wake_ups = 3});
  stats.posse.failed = 8;
  auto& chooser = stats.choosers.emplace_back();
  chooser.name = "c";
  chooser.counts[mab::event::inline_decision] = 30;
  chooser.counts[mab::event::cold_start] = 1;
  chooser.counts[mab::event::offload_decision] = 20;
  chooser.counts[mab::event::hint_offload] = 2;
  chooser.counts[mab::guardrail::gr1] = 5;
  chooser.offload_overhead.typical_ns = 1500;
  const auto text = metrics_text(stats, {});
  for (const auto* line :
       {"basal_executor_tasks_total{pool=\"message\",source=\"ring\"} 60\n",
        "basal_executor_tasks_total{pool=\"message\",source=\"background\"} 4\n",
        "basal_executor_wakeups_total{pool=\"message\",kind=\"kernel\"} 2\n",
        "basal_executor_wakeups_total{pool=\"message\",kind=\"spinning\"} 3\n",
        "basal_posse_failures_total{reason=\"exception\"} 8\n",
        "_decisions_total{family=\"c\",choice=\"inline\",reason=\"cold_start\"} 1\n",
        "_decisions_total{family=\"c\",choice=\"inline\",reason=\"costs\"} 29\n",
        "_decisions_total{family=\"c\",choice=\"offload\",reason=\"hint\"} 2\n",
        "_decisions_total{family=\"c\",choice=\"offload\",reason=\"GR1\"} 5\n",
        "_decisions_total{family=\"c\",choice=\"offload\",reason=\"costs\"} 13\n",
        "basal_chooser_overhead_seconds{family=\"c\"} 1.5e-06\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("each kind of warning has a line, whether it is raised or not") {
  actors::system_stats stats;
  stats.warnings.push_back({"long_wait", "message", "", "", 0});
  const auto text = metrics_text(stats, {});
  CHECK(text.find("basal_warnings_active{kind=\"long_wait\"} 1\n") != std::string::npos);
  CHECK(text.find("basal_warnings_active{kind=\"collection\"} 0\n") != std::string::npos);
}

TEST_CASE("nothing is collected unless somebody asks, and once for all who ask together") {
  actor_system_config config;
  caf::actor_system system{config};
  sampler samples{system};
  CHECK(samples.taken() == 0);
  const auto first = samples.not_older_than(1h);
  CHECK(samples.not_older_than(1h) == first);
  CHECK(samples.taken() == 1);
  CHECK(&first->json() == &samples.not_older_than(1h)->json()); // made once
  const auto second = samples.not_older_than(-1ms);
  CHECK(second->number == 2);
  CHECK(first->number == 1); // a holder keeps its sample
}

TEST_CASE("a statistic that gets a field has it in the JSON, too") {
  actors::system_stats stats;
  stats.actors_now = 3;
  stats.choosers.emplace_back().name = "a/b";
  const auto x = to_json(stats);
  CHECK(x["actors_now"] == 3);
  CHECK(x["choosers"][0]["name"] == "a/b");
  CHECK(x["choosers"][0]["function_time"]["typical_ns"] == 0);
  CHECK(x["posse"]["verdicts"].size() == posse::num_theft_verdicts);
  CHECK(x["choosers"][0].size() == mab::counter_count + 4);
}
