#include <basal/actors/solving_stats.hpp>

#include <basal/actors/detail/solver_sources.hpp>
#include <basal/actors/detail/system_core.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace basal::actors {

namespace {

/// The element of this name, which is made where there is none.
template <class Named>
Named& named(std::vector<Named>& all, const std::string& name) {
  const auto found
    = std::find_if(all.begin(), all.end(), [&](const Named& x) { return x.name == name; });
  if (found != all.end())
    return *found;
  auto& made = all.emplace_back();
  made.name = name;
  return made;
}

void add(std::vector<solve_count>& to, const std::vector<solve_count>& what) {
  for (const auto& x : what)
    named(to, x.name).solves += x.solves;
}

/// Evenly spread between the limits, of which there is none for the last times: they count as
/// long as the last limit.
std::uint64_t quantile(const time_stats& times, double share) {
  const auto wanted = share * static_cast<double>(times.count);
  double before = 0;
  double begin_ns = 0;
  double end_ns = 1000;
  for (const auto within : times.within) {
    const auto to_here = static_cast<double>(within);
    if (to_here > before && wanted <= to_here)
      return static_cast<std::uint64_t>(
        begin_ns + (end_ns - begin_ns) * (wanted - before) / (to_here - before));
    before = to_here;
    begin_ns = end_ns;
    end_ns *= 4;
  }
  return times.count > 0 ? static_cast<std::uint64_t>(begin_ns) : 0;
}

void add(time_stats& to, const time_stats& what) {
  to.count += what.count;
  to.sum_ns += what.sum_ns;
  to.within.resize(std::max(to.within.size(), what.within.size()));
  for (std::size_t i = 0; i < what.within.size(); ++i)
    to.within[i] += what.within[i];
  to.p50_ns = quantile(to, 0.50);
  to.p99_ns = quantile(to, 0.99);
}

} // namespace

solving_stats& solving_stats::operator+=(const solving_stats& other) {
  solvers += other.solvers;
  permits += other.permits;
  running += other.running;
  waiting += other.waiting;
  for (const auto& x : other.methods) {
    auto& method = named(methods, x.name);
    add(method.ended, x.ended);
    add(method.times, x.times);
  }
  add(failures, other.failures);
  return *this;
}

std::uint64_t detail::solver_sources::add(reader read) {
  const std::lock_guard guard{mutex_};
  readers_.emplace(last_ + 1, std::move(read));
  return ++last_;
}

void detail::solver_sources::remove(std::uint64_t number) noexcept {
  const std::lock_guard guard{mutex_};
  const auto found = readers_.find(number);
  try {
    auto last = found->second();
    last.solvers = last.permits = last.running = last.waiting = 0;
    ended_ += last;
  } catch (const std::exception&) {
    // Statistics: nobody acts on them.
  }
  readers_.erase(found);
}

solving_stats detail::solver_sources::snapshot() const {
  const std::lock_guard guard{mutex_};
  auto result = ended_;
  for (const auto& [number, read] : readers_)
    result += read();
  return result;
}

solver_source::solver_source(caf::actor_system& system, std::function<solving_stats()> read)
  : of_(detail::system_core::of(system, "a solver cannot be shown").solvers()),
    number_(of_->add(std::move(read))) {
}

solver_source::~solver_source() {
  if (of_ != nullptr)
    of_->remove(number_);
}

solver_source::solver_source(solver_source&& other) noexcept
  : of_(std::move(other.of_)), number_(other.number_) {
}

solver_source& solver_source::operator=(solver_source&& other) noexcept {
  std::swap(of_, other.of_);
  std::swap(number_, other.number_);
  return *this;
}

} // namespace basal::actors
