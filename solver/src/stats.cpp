#include <basal/solver/stats.hpp>

namespace basal::solver {

std::size_t counter_copies::of_this_thread() noexcept {
  // Threads by turns. Relaxed: only the numbers matter.
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t mine = threads.fetch_add(1, std::memory_order_relaxed) % size;
  return mine;
}

method_counters::method_counters() : entries_(counter_copies::size * all_methods().size()) {
}

void method_counters::add(method made_x, state end, std::uint64_t latency_ns) noexcept {
  const auto methods = entries_.size() / counter_copies::size;
  auto& to
    = entries_[counter_copies::of_this_thread() * methods + static_cast<std::size_t>(made_x)];
  to.ended[static_cast<std::size_t>(end)].fetch_add(1, std::memory_order_relaxed);
  to.took[method_stats::place_of(latency_ns)].fetch_add(1, std::memory_order_relaxed);
  to.latency_ns.fetch_add(latency_ns, std::memory_order_relaxed);
}

void method_counters::entry::add_to(method_stats& sum) const noexcept {
  for (std::size_t i = 0; i < ended.size(); ++i)
    sum.ended[i] += ended[i].load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < took.size(); ++i)
    sum.took[i] += took[i].load(std::memory_order_relaxed);
  sum.latency_ns += latency_ns.load(std::memory_order_relaxed);
}

std::vector<method_stats> method_counters::get() const {
  std::vector<method_stats> result;
  for (const auto m : all_methods())
    result.emplace_back().method = m;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    entries_[i].add_to(result[i % result.size()]);
  return result;
}

method_stats method_counters::total() const noexcept {
  method_stats sum;
  for (const auto& one : entries_)
    one.add_to(sum);
  return sum;
}

} // namespace basal::solver
