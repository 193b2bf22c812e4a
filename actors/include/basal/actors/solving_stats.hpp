#pragma once

#include <basal/actors/actor_stats.hpp>
#include <basal/actors/detail/named_field.hpp>

#include <caf/fwd.hpp>
#include <caf/meta/type_name.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace basal::actors {

/// Solves, or requests, that ended in one way.
struct solve_count {
  std::string name;         ///< of the state of the result, or of the reason that there is none
  std::uint64_t solves = 0; ///< since the start

  friend bool operator==(const solve_count&, const solve_count&) = default;
};

/// Solves that ended with a result of one method, since the start.
struct solve_method_stats {
  std::string name;               ///< of the method that made x
  std::vector<solve_count> ended; ///< by the result's state
  time_stats times; ///< from permit to result; quantiles are right to a factor of four

  friend bool operator==(const solve_method_stats&, const solve_method_stats&) = default;
};

/// Work of all solvers that an actor system knows of (solver_source), added up. Counts stay when a
/// solver ends.
struct solving_stats {
  std::uint64_t solvers = 0;               ///< there are now
  std::uint64_t permits = 0;               ///< that they have, now
  std::uint64_t running = 0;               ///< permits in use, now
  std::uint64_t waiting = 0;               ///< requests that have neither begun nor failed, now
  std::vector<solve_method_stats> methods; ///< that have solved something
  std::vector<solve_count> failures;       ///< requests without a result, by reason

  friend bool operator==(const solving_stats&, const solving_stats&) = default;

  /// Adds the numbers of another solver; those of one name become one.
  solving_stats& operator+=(const solving_stats& other);
};

/// How an inspector reads and writes solve_count.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solve_count& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("solve_count"), field("name", x.name), field("solves", x.solves));
}

/// How an inspector reads and writes solve_method_stats.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solve_method_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("solve_method_stats"), field("name", x.name),
           field("ended", x.ended), field("times", x.times));
}

/// How an inspector reads and writes solving_stats.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solving_stats& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("solving_stats"), field("solvers", x.solvers),
           field("permits", x.permits), field("running", x.running), field("waiting", x.waiting),
           field("methods", x.methods), field("failures", x.failures));
}

namespace detail {

class solver_sources;

}

/// A solver in system_stats::solver, for as long as this object lives. Actors know no solver: who
/// has one says how its numbers are read. `solver_service` does so for its own, and `show_solver`
/// for any `batch_solver`.
class solver_source {
public:
  /// Of no system.
  solver_source() = default;

  /// @param read the solver's numbers with `solvers` 1. Called on any thread that asks for the
  ///        system's statistics, one at a time and under a lock, and once by the destructor; must
  ///        not wait for an executor.
  /// @throws std::logic_error if `system` does not run on basal
  solver_source(caf::actor_system& system, std::function<solving_stats()> read);

  /// Counts stay in the system's statistics, as `read` says at this moment; those of now go.
  /// `read` is not called afterwards. The system may have ended.
  ~solver_source();

  /// Takes over the other one's solver, if it has one.
  /// @{
  solver_source(solver_source&& other) noexcept;
  solver_source& operator=(solver_source&& other) noexcept;
  /// @}

private:
  std::shared_ptr<detail::solver_sources> of_; ///< null: of no system
  std::uint64_t number_ = 0;                   ///< among these
};

} // namespace basal::actors
