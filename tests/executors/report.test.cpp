#include <basal/executors/report.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/in_child.hpp"

using namespace basal::executors;
using namespace std::chrono_literals;

namespace {

std::mutex mutex;
std::vector<std::string> seen;

void remember(report_level level, std::string_view from, std::string_view text) noexcept {
  const std::lock_guard guard{mutex};
  seen.push_back(std::string{to_string(level)} + " " + std::string{from} + ": "
                 + std::string{text});
}

/// Has `remember` see the reports of a test.
struct listening {
  listening() {
    seen.clear();
    before = set_report_sink(&remember);
  }

  ~listening() {
    set_report_sink(before);
  }

  report_sink before;
};

} // namespace

TEST_CASE("a report goes to standard error where no sink is set, a debug one nowhere") {
  const auto [said, signal] = basal::test::in_child([] {
    report(report_level::debug, "basal.posse", "too much");
    report(report_level::warning, "basal.posse", "look out");
    report(report_level::info, "program", std::string(10'000, 'x'));
  });
  CHECK(signal == 0);
  CHECK(said == "basal.posse: look out\nprogram: " + std::string(4096, 'x') + "\n");
}

TEST_CASE("a report goes to the sink that is set") {
  {
    listening on;
    CHECK(on.before == &report_to_stderr);
    report(report_level::debug, "basal.mab", "one");
    report(report_level::critical, "basal.mab", "two");
    CHECK_FALSE(replace_report_sink(&report_to_stderr, &report_to_stderr));
    report(report_level::error, "basal.mab", "three");
    CHECK(seen
          == std::vector<std::string>{"debug basal.mab: one", "critical basal.mab: two",
                                      "error basal.mab: three"});
  }
  CHECK(replace_report_sink(&report_to_stderr, &remember));
  CHECK(set_report_sink(&report_to_stderr) == &remember);
}

TEST_CASE("a limit admits one event in ten seconds and counts the others") {
  report_limit limit;
  CHECK(limit.admit(-5s) == 0u);
  CHECK_FALSE(limit.admit(-5s));
  CHECK_FALSE(limit.admit(5s - 1ns));
  CHECK(limit.admit(5s) == 2u);
  CHECK(limit.admit(15s) == 0u);
  CHECK_FALSE(limit.admit(16s));
  CHECK(limit.take_held_back() == 1);
  CHECK(limit.admit(25s) == 0u);
}

TEST_CASE("of events at the same time on many threads a limit admits one and counts the others") {
  constexpr int threads = 4;
  constexpr int each = 1000;
  report_limit limit;
  std::atomic<int> admitted{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < each; ++i)
        if (limit.admit(1s))
          admitted.fetch_add(1, std::memory_order_relaxed);
    });
  for (auto& one : all)
    one.join();
  CHECK(admitted == 1);
  CHECK(limit.take_held_back() == threads * each - 1);
}

TEST_CASE("of a storm of one kind the first report comes through, and in the end the number") {
  static constinit report_kind kind{report_level::warning, "basal.test", "storms"};
  listening on;
  for (int i = 0; i < 38; ++i)
    kind("it storms");
  CHECK(seen == std::vector<std::string>{"warning basal.test: it storms"});
  report_kind::report_held_back();
  report_kind::report_held_back();
  CHECK(seen
        == std::vector<std::string>{"warning basal.test: it storms",
                                    "warning basal.test: 37 more reports of storms"});
}
