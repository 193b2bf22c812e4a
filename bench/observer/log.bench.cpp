// The cost of a line that is not logged, beside spdlog's own call, and of a report that is held
// back in a storm.

#include "bench/support/bench.hpp"

#include <basal/actors/log.hpp>
#include <basal/executors/report.hpp>

#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>

using namespace basal;

namespace {

constexpr int batch = 64;

class counting_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  std::uint64_t lines = 0;

private:
  void sink_it_(const spdlog::details::log_msg&) override {
    ++lines;
  }

  void flush_() override {
  }
};

const auto all_lines = std::make_shared<counting_sink>();

void log_disabled(benchmark::State& state, bool asks_first) {
  auto& actors = actors::logger_of(actors::log_module::actors);
  actors.sinks() = {all_lines};
  actors.set_level(spdlog::level::info); // whatever an actor system of another case has set
  const auto before = all_lines->lines;
  for (auto _ : state)
    for (int i = 0; i < batch; ++i)
      if (!asks_first || actors::logs(actors::log_module::actors, actors::log_level::debug))
        actors.debug("{} of {}", i, batch);
  if (all_lines->lines != before)
    state.SkipWithError("a line of a level that is off was logged");
  actors.info("one line");
  if (all_lines->lines != before + 1)
    state.SkipWithError("a line was lost");
}

constinit executors::report_kind storm{executors::report_level::warning, "basal.bench", "storms"};

void report_held_back(benchmark::State& state) {
  static std::uint64_t lines = 0;
  const auto old = executors::set_report_sink(
    [](executors::report_level, std::string_view, std::string_view) noexcept { ++lines; });
  const auto before = lines;
  std::uint64_t sent = 0;
  for (auto _ : state)
    for (int i = 0; i < batch; ++i, ++sent)
      storm("it storms");
  executors::report_kind::report_held_back();
  executors::set_report_sink(old);
  if (sent > 2 * batch && lines - before > sent / 100)
    state.SkipWithError("a storm came through");
}

const bench::suite log_suite{[](bench::plan& plan) {
  const std::string size = "x" + std::to_string(batch);
  const auto disabled = bench::case_name("log_disabled", size, "basal", 1);
  const auto held_back = bench::case_name("report_held_back", size, "basal", 1);
  plan.add(disabled, [](benchmark::State& s) { log_disabled(s, true); }, {.baseline = disabled});
  plan.add(bench::case_name("log_disabled", size, "spdlog", 1),
           [](benchmark::State& s) { log_disabled(s, false); }, {.baseline = disabled});
  plan.add(held_back, report_held_back, {.baseline = held_back});
  plan.figure("log_disabled_ns", bench::ns_per_item(disabled, batch));
  plan.figure("report_held_back_ns", bench::ns_per_item(held_back, batch));
}};

} // namespace
