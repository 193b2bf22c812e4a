#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace tiered {

namespace {

double us(std::chrono::nanoseconds t) {
  return std::chrono::duration<double, std::micro>(t).count();
}

double ms(std::chrono::nanoseconds t) {
  return std::chrono::duration<double, std::milli>(t).count();
}

/// The nearest-rank quantile of microseconds; 0 of none.
double quantile(std::vector<double>& all, double p) {
  if (all.empty())
    return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(all.size())));
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(all.begin(), at, all.end());
  return *at;
}

template <class Wanted, class Field>
std::vector<double> microseconds(const client_report& r, Wanted wanted, Field field) {
  std::vector<double> all;
  for (const sample& s : r.samples)
    if (wanted(s))
      all.push_back(us(s.*field));
  return all;
}

void print_program(const client_report& r) {
  const char* name = r.of->name().c_str();
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    const auto in_tier = [&](const sample& s) { return s.tier == tier; };
    auto waited = microseconds(r, in_tier, &sample::waited);
    auto running = microseconds(r, in_tier, &sample::running);
    if (running.empty())
      continue;
    std::printf("tier %-14s %-9s calls %5zu latency_us %8.1f run_us %8.1f\n", name, tier_name(tier),
                running.size(), quantile(waited, 0.5), quantile(running, 0.5));
  }
  std::printf("result %-12s %s\n", name, to_string(r.last).c_str());
}

} // namespace

void print_climb(const std::vector<client_report>& clients) {
  for (const client_report& r : clients)
    print_program(r);
}

void print_compilations(const library& all) {
  const auto stats = all.stats();
  for (std::size_t i = 0; i < stats.size(); ++i) {
    const auto& t = stats[i];
    const std::uint64_t ended = t.ready + t.failed;
    const double mean = ended == 0 ? 0 : ms(t.spent) / static_cast<double>(ended);
    std::printf("compile %-11s ready %llu failed %llu mean_ms %.3f longest_ms %.3f\n",
                tier_name(i + 1), static_cast<unsigned long long>(t.ready),
                static_cast<unsigned long long>(t.failed), mean, ms(t.longest));
  }
}

void print_interactive(const client_report& prober) {
  for (const bool compiling : {true, false}) {
    auto waited = microseconds(
      prober, [&](const sample& s) { return s.while_compiling == compiling; }, &sample::waited);
    std::printf("interactive %-9s answers %zu p50_us %.1f p99_us %.1f max_us %.1f\n",
                compiling ? "compiling" : "quiet", waited.size(), quantile(waited, 0.5),
                quantile(waited, 0.99), quantile(waited, 1.0));
  }
}

} // namespace tiered
