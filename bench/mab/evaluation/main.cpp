// Writes the evaluation of loom-rs's adaptive scheduling, repeated with our choosers, as
// Markdown to standard output.

#include "bench/mab/evaluation/report.hpp"
#include "bench/support/machine.hpp"

#include <cstdio>
#include <iostream>
#include <string_view>

namespace {

using namespace basal;

constexpr const char* usage
  = "usage: mab_evaluation [--quick] > evaluation.md\n"
    "exit status: 0, 1 when a row that is the same on every machine differs, 2 wrong usage\n";

void introduce(std::ostream& out, const mab::evaluation::options& o) {
  const auto m = bench::this_machine();
  out << "# Evaluation of basal::mab\n\n"
      << m.cpu << ", " << m.usable_cpus << " CPUs, " << m.kernel << "; " << m.compiler << ' '
      << m.flags << "; load average ";
  for (const double x : m.load)
    out << x << ' ';
  out << "when started; clocks steady_clock and CLOCK_THREAD_CPUTIME_ID; " << m.date
      << (o.quick ? "; quick run" : "") << ".\n\n"
      << "The source is \"Adaptive Compute Scheduling via Multi-Armed Bandit\", the design "
         "document of loom-rs (Rust, 2026), with the tables of its evaluation. Its absolute "
         "figures belong to its author's machine. Models: `seed_literal` has the formulas that "
         "made the source's tables, `separate_arms` corrects the formulas, `corrected`, the "
         "default, also the structure; mab/README.md derives all three.\n\n";
  if (m.asserts)
    out << "**Built with asserts: do not compare the times.**\n\n";
}

int run(const mab::evaluation::options& o) {
  mab::evaluation::report r{std::cout};
  introduce(std::cout, o);
  decision_overhead(r, o);
  wake_latency(r, o);
  throughput(r, o);
  convergence(r);
  workload_shift(r);
  pressure_escalation(r);
  thread_ratios(r, o);
  regret(r, o);
  std::cout << "## Checks\n\n";
  if (r.failures().empty())
    std::cout << "All rows that must be the same on every machine are.\n";
  for (const auto& f : r.failures())
    std::cout << "- FAILED: " << f << '\n';
  std::cout.flush();
  return r.failures().empty() && std::cout ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  mab::evaluation::options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (argument != "--quick") {
      std::fprintf(stderr, "mab_evaluation: unknown argument '%s'\n%s", argv[i], usage);
      return 2;
    }
    o.quick = true;
  }
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mab_evaluation: %s\n", e.what());
    return 1;
  }
}
