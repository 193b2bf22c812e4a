// Writes the sources' tables with our figures beside them, as Markdown to standard output.

#include "bench/evaluation/report.hpp"
#include "bench/support/machine.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

using namespace basal;

constexpr const char* usage
  = "usage: evaluation [--quick] [--json FILE]\n"
    "exit status: 0, 1 when a row of class D or R misses, 2 wrong usage\n";

void introduce(std::ostream& out, const evaluation::options& o) {
  const auto m = bench::this_machine();
  out << "# The sources' tables, and ours\n\n"
      << m.cpu << ", " << m.usable_cpus << " CPUs, " << m.kernel << "; " << m.compiler << ' '
      << m.flags << "; load average ";
  for (const double x : m.load)
    out << x << ' ';
  out << "when started; clocks steady_clock and CLOCK_THREAD_CPUTIME_ID; " << m.date
      << (o.quick ? "; quick run" : "") << ".\n\n"
      << "MB: loom-rs, \"Adaptive Compute Scheduling via Multi-Armed Bandit\". PB: MeTTaTron, "
         "\"Hybrid P² Priority Scheduler\". SB: RuVector, ADR-STS-009. Classes: D is the same on "
         "every machine; R holds on every machine within its bound; A belongs to the machine; U "
         "cannot be repeated here.\n\n"
      << "Models of mab: `seed_literal` has the formulas that made the source's tables, "
         "`separate_arms` corrects the formulas, `corrected`, the default, also the structure; "
         "mab/README.md derives all three.\n\n";
  if (m.asserts)
    out << "**Built with asserts: do not compare the times.**\n\n";
}

int run(const evaluation::options& o, const std::string& json) {
  evaluation::report r{std::cout};
  introduce(std::cout, o);
  using namespace evaluation;
  const auto timed
    = [&](void (*part)(report&, const options&)) { r.run([&](report& into) { part(into, o); }); };
  timed(decision_overhead);
  timed(wake_latency);
  timed(throughput);
  r.run(convergence);
  r.run(workload_shift);
  r.run(pressure_escalation);
  timed(thread_ratios);
  timed(regret);
  timed(queue_costs);
  r.run(quantile_accuracy);
  r.run(shortest_first);
  timed(hybrid_paths);
  r.run(priority_journal);
  timed(distances);
  timed(single_solves);
  timed(batches);
  timed(ticks);
  std::cout << "## All rows and their verdicts\n\n" << bench::rows_as_markdown(r.rows()) << '\n';
  const auto misses = std::count_if(r.rows().begin(), r.rows().end(),
                                    [](const auto& row) { return !bench::holds(row); });
  std::cout << (misses == 0 ? "All rows of class D and R hold.\n"
                            : std::to_string(misses) + " rows of class D or R miss.\n");
  const auto m = bench::this_machine();
  if (misses > 0 && !m.load.empty() && 2 * m.load.front() > m.usable_cpus)
    std::cout << "The machine was busy (load " << m.load.front() << " on " << m.usable_cpus
              << " CPUs): rows of class R that compare times may miss for that alone.\n";
  std::cout.flush();
  if (!json.empty()) {
    std::ofstream file{json};
    file << bench::rows_as_json(r.rows());
    if (!file.flush())
      throw std::runtime_error("cannot write " + json);
  }
  return std::cout ? bench::exit_status(r.rows()) : 1;
}

} // namespace

int main(int argc, char** argv) {
  evaluation::options o;
  std::string json;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (argument == "--quick") {
      o.quick = true;
    } else if (argument == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else {
      std::fprintf(stderr, "evaluation: cannot use '%s'\n%s", argv[i], usage);
      return 2;
    }
  }
  try {
    return run(o, json);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "evaluation: %s\n", e.what());
    return 1;
  }
}
