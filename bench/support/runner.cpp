#include "bench/support/runner.hpp"

#include "bench/support/cache_line.hpp"
#include "bench/support/calm.hpp"
#include "bench/support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <regex>
#include <string>
#include <unistd.h>
#include <vector>

namespace basal::bench {

namespace {

// Google Benchmark 1.8 renamed error_occurred; Debian 12 has 1.7, Debian 13 has 1.9.
template <class Run>
std::string error_of(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred ? run.error_message : std::string{};
  else
    return static_cast<int>(run.skipped) != 0 ? run.skip_message : std::string{};
}

class collector : public benchmark::BenchmarkReporter {
public:
  explicit collector(results& into) : into_(into) {
  }

  bool ReportContext(const Context&) override {
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::map<std::string, std::vector<double>> counters;
    case_result* target = nullptr;
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration)
        continue;
      target = &find(run.run_name.function_name);
      if (auto error = error_of(run); !error.empty()) {
        target->error = std::move(error);
        continue;
      }
      target->ns.push_back(run.GetAdjustedRealTime());
      for (const auto& [name, counter] : run.counters)
        counters[name].push_back(counter.value);
    }
    for (const auto& [name, values] : counters)
      target->counters[name] = median(values);
  }

private:
  case_result& find(const std::string& name) {
    return *std::find_if(into_.cases().begin(), into_.cases().end(),
                         [&](const case_result& c) { return c.name == name; });
  }

  results& into_;
};

// On a terminal, what runs right now: a full run takes minutes.
void show_progress(const std::string& name) {
  if (isatty(STDERR_FILENO) == 1)
    std::fprintf(stderr, "\r\033[K%s", name.c_str());
}

void run_guarded(const plan::case_entry& entry, benchmark::State& state) {
  show_progress(entry.name);
  await_calm();
  try {
    entry.run(state);
    // Google Benchmark would abort the process.
    if (!state.error_occurred() && state.iterations() < state.max_iterations)
      state.SkipWithError("the case left its timing loop early or never entered it");
  } catch (const std::exception& e) {
    state.SkipWithError((std::string{"exception: "} + e.what()).c_str());
  }
}

// Cases are compared with others of the same workload and size. Those run together: what else the
// machine does changes from one second to the next.
std::string program_of(const std::string& name) {
  return name.substr(0, name.find('/', name.find('/') + 1));
}

// Matches the names of its cases and no others.
std::string pattern_of(const std::string& program) {
  std::string result{"^"};
  for (const char c : program) {
    if (std::strchr("\\^$.|?*+()[]{}", c) != nullptr)
      result += '\\';
    result += c;
  }
  return result + '/';
}

} // namespace

results run_cases(const plan& what, const options& how) {
  results collected;
  const std::regex filter{how.filter};
  std::vector<std::string> programs;
  for (const auto& entry : what.cases()) {
    if (!std::regex_search(entry.name, filter))
      continue;
    if (const auto program = program_of(entry.name);
        std::find(programs.begin(), programs.end(), program) == programs.end())
      programs.push_back(program);
    collected.cases().push_back({entry.name, entry.options.baseline, {}, {}, {}});
    auto* registered = benchmark::RegisterBenchmark(
      entry.name.c_str(), [&entry](benchmark::State& state) { run_guarded(entry, state); });
    registered->Unit(benchmark::kNanosecond)->Repetitions(how.repetitions);
    if (entry.options.iterations > 0)
      registered->Iterations(entry.options.iterations);
    else
      registered->MinTime(how.min_time_s * entry.options.min_time_share);
    // Wall time also decides how many iterations run: the calling thread of a parallel case
    // may sleep all the time, and its CPU time would never reach the minimum.
    if (entry.options.manual_time)
      registered->UseManualTime();
    else
      registered->UseRealTime();
  }
  if (collected.cases().empty())
    return collected;
  char executable[] = "bench";
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  char* arguments[] = {executable, interleave, nullptr};
  int count = 2;
  benchmark::Initialize(&count, arguments);
  collector reporter{collected};
  for (const auto& program : programs) {
    if (const auto ns = cache_line_ns())
      collected.cache_lines().push_back(*ns);
    benchmark::RunSpecifiedBenchmarks(&reporter, pattern_of(program));
  }
  benchmark::Shutdown();
  show_progress("");
  return collected;
}

figures_result compute_figures(const plan& what, const results& from, const options& how) {
  figures_result computed;
  const std::regex filter{how.filter};
  const bool filtered = !how.filter.empty();
  for (const auto& entry : what.figures()) {
    if (entry.measures && !std::regex_search(entry.name, filter))
      continue;
    try {
      const double value = entry.compute(from);
      if (!std::isfinite(value))
        throw std::runtime_error("the value is not finite");
      computed.values.push_back({entry.name, value});
    } catch (const not_measured& e) {
      if (!filtered)
        computed.failures.push_back(entry.name + ": " + e.what());
    } catch (const std::exception& e) {
      computed.failures.push_back(entry.name + ": " + e.what());
    }
  }
  return computed;
}

} // namespace basal::bench
