// The purpose of tiering: the programs of samples/tiered in each of its tiers, each main() as a
// client would call it. The peer of every tier is tier 0, the tree walk, whose values all tiers
// must return. Tree walk and bytecode are written to be quick: types are known, so values carry no
// tags; calls allocate nothing.
//
// Left out: other languages. Their runtimes would be measured, not the tiers.

#include "bench/support/bench.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "tiered/code.hpp"
#include "tiered/parser.hpp"

namespace {

using namespace basal;

constexpr const char* programs[] = {"fib", "mandelbrot", "nbody", "nqueens", "spectral_norm"};

/// main() of one of the sample's programs.
class served {
public:
  explicit served(const std::string& name) : source_(read(name)), main_(*source_.find("main")) {
  }

  /// Compiles it, if that has not happened: code that nobody runs disturbs no other case.
  const tiered::code& compiled(std::size_t tier) {
    if (!made_[tier])
      made_[tier] = tiered::compile(source_, main_, tier);
    return *made_[tier];
  }

  /// The bits of the result.
  std::int64_t run(const tiered::code& c, tiered::machine& m) const {
    const tiered::outcome o = tiered::run(source_.functions[main_], c, m, {});
    if (o.error)
      throw std::runtime_error(tiered::to_string(o));
    return o.value.v.i;
  }

private:
  static tiered::program read(const std::string& name) {
    const std::string path = std::string(BASAL_TIERED_PROGRAMS) + "/" + name + ".tier";
    std::ifstream file(path);
    if (!file)
      throw std::runtime_error("cannot read " + path + "; run from the tree that it was built in");
    return tiered::parse_program(std::string{std::istreambuf_iterator<char>(file), {}});
  }

  tiered::program source_;
  std::uint32_t main_;
  std::array<std::unique_ptr<const tiered::code>, tiered::tiers> made_;
};

std::string case_of(const char* program, std::size_t tier) {
  return bench::case_name("tiered_" + std::string(program), "main", tiered::tier_name(tier), 1);
}

const bench::suite tiered_suite{[](bench::plan& plan) {
  for (const char* name : programs) {
    const auto program = std::make_shared<served>(name);
    tiered::machine m;
    const std::int64_t expected = program->run(program->compiled(0), m);
    for (std::size_t tier = 0; tier < tiered::tiers; ++tier)
      plan.add(case_of(name, tier),
               [=](benchmark::State& state) {
                 tiered::machine own;
                 const tiered::code& code = program->compiled(tier);
                 bench::check(state, expected, [&] { return program->run(code, own); });
               },
               {.baseline = case_of(name, 0)});
  }
  plan.figure("tiered_speedup", [](const bench::results& r) {
    double log_sum = 0;
    for (const char* name : programs)
      log_sum += std::log(r.median_ns(case_of(name, 0)) / r.median_ns(case_of(name, 3)));
    return std::exp(log_sum / std::size(programs));
  });
}};

} // namespace
