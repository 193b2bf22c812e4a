// Runs real cases through Google Benchmark and reads the table and the JSON back.
#include "bench/support/report.hpp"
#include "bench/support/cpus.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace basal::bench;

namespace {

// The programs that ran, in this order, each as long as no other did.
std::vector<std::string> order;

void note(const char* program) {
  if (order.empty() || order.back() != program)
    order.emplace_back(program);
}

void sleep_ms(benchmark::State& state, int ms) {
  note("sleep/2");
  for (auto _ : state)
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  state.counters["slept_ms"] = ms;
}

// One process-wide run, since Google Benchmark's registry is global.
const report& the_run() {
  static const report made = [] {
    plan p{true};
    p.add("sleep/2/short/1", [](auto& s) { sleep_ms(s, 2); });
    p.add("sleep/2/long/1", [](auto& s) { sleep_ms(s, 40); }, {.baseline = "sleep/2/short/1"});
    p.add("sum/3/right/1", [](auto& s) {
      note("sum/3");
      check(s, 3, [] { return 1 + 2; });
    });
    p.add("sum/3/wrong/1", [](auto& s) { check(s, 3, [] { return 1 + 1; }); });
    p.add("sum/3/throws/1", [](benchmark::State&) { throw std::runtime_error("no memory"); });
    p.add("sum/3/empty/1", [](benchmark::State&) {});
    p.add("sum/30/right/1", [](auto& s) {
      note("sum/30");
      check(s, 3, [] { return 1 + 2; });
    });
    p.add("a+b/3/right/1", [](auto& s) {
      note("a+b/3");
      check(s, 3, [] { return 1 + 2; });
    });
    p.add("sum/3/as_well/1", [](auto& s) {
      note("sum/3");
      check(s, 3, [] { return 1 + 2; });
    });
    p.figure("slower", ratio("sleep/2/long/1", "sleep/2/short/1"));
    p.figure("of_wrong", ratio("sum/3/wrong/1", "sum/3/right/1"));
    p.measure("answer", [] { return 42.0; });
    p.measure("broken", []() -> double { throw std::runtime_error("no /proc"); });
    options how;
    how.quick = true;
    how.repetitions = 5;
    how.min_time_s = 0.01;
    report r{"demo", this_machine(), how, run_cases(p, how), {}, 1.5};
    r.figures = compute_figures(p, r.cases, how);
    return r;
  }();
  return made;
}

std::string table() {
  std::ostringstream out;
  print_table(out, the_run());
  return out.str();
}

} // namespace

TEST_CASE("the cases of a program run together, and each as often as it should") {
  for (const auto* name : {"sum/3/right/1", "sum/3/as_well/1", "sum/30/right/1", "a+b/3/right/1"})
    CHECK(the_run().cases.at(name).ns.size() == 5);
  CHECK(order == std::vector<std::string>{"sleep/2", "sum/3", "sum/30", "a+b/3"});
}

TEST_CASE("every repetition of a case is kept, in ns of wall time") {
  const auto& c = the_run().cases.at("sleep/2/short/1");
  CHECK(c.ns.size() == 5);
  for (const double ns : c.ns)
    CHECK(ns >= 2e6);
  CHECK(the_run().cases.counter("sleep/2/short/1", "slept_ms") == 2);
}

TEST_CASE("figures come from the measured medians") {
  REQUIRE(the_run().figures.values.size() == 2);
  CHECK(the_run().figures.values[0].name == "slower");
  CHECK(the_run().figures.values[0].value > 1.5);
  CHECK(the_run().figures.values[1].value == 42);
}

TEST_CASE("wrong answers, exceptions and cases without a loop fail the run by name") {
  CHECK_FALSE(succeeded(the_run()));
  const auto text = table();
  CHECK(text.find("FAILED sum/3/wrong/1: wrong answer\n") != std::string::npos);
  CHECK(text.find("FAILED sum/3/throws/1: exception: no memory\n") != std::string::npos);
  CHECK(text.find("FAILED sum/3/empty/1: the case left") != std::string::npos);
  CHECK(text.find("FAILED sum/3/right/1") == std::string::npos);
}

TEST_CASE("figures that cannot be computed fail the run by name") {
  const auto text = table();
  CHECK(text.find("FAILED figure of_wrong: case 'sum/3/wrong/1' failed\n") != std::string::npos);
  CHECK(text.find("FAILED figure broken: no /proc\n") != std::string::npos);
}

TEST_CASE("the table ends with the figures") {
  const auto text = table();
  CHECK(text.ends_with("figure answer 42.0\n"));
  CHECK(text.find("\nfigure slower ") != std::string::npos);
}

TEST_CASE("the table's rows are aligned") {
  std::istringstream lines{table()};
  std::string line;
  std::size_t width = 0;
  while (std::getline(lines, line)) {
    if (!line.starts_with("case") && !line.starts_with("s"))
      continue;
    width = width == 0 ? line.size() : width;
    CHECK(line.size() == width);
  }
  CHECK(width > 0);
}

TEST_CASE("the JSON holds machine, compiler, repetitions and figures") {
  const auto json = nlohmann::json::parse(to_json(the_run()));
  CHECK(json["module"] == "demo");
  const auto lines = json["machine"]["cache_line_ns"].get<std::vector<double>>();
  CHECK(lines.size() == (cpu_counts().back() > 1 ? 4U : 0U)); // one for each workload
  for (const double ns : lines)
    CHECK(ns > 0);
  CHECK((table().find("a cache line to another CPU and back: ") != std::string::npos)
        == !lines.empty());
  CHECK(json["machine"]["usable_cpus"].get<int>() >= 1);
  CHECK_FALSE(json["compiler"].get<std::string>().empty());
  CHECK(json["cases"][0]["repetitions_ns"].size() == 5);
  CHECK(json["cases"][1]["baseline"] == "sleep/2/short/1");
  CHECK(json["cases"][3]["error"] == "wrong answer");
  CHECK(json["figures"]["answer"] == 42);
  CHECK(json["succeeded"] == false);
}
