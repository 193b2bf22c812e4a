#pragma once

// Messages between a solver service and its clients.
//
// Every double travels as the integer with the same bits, see basal/actors/real.hpp. Within a
// process nothing is serialised, and matrices are shared by pointer.

#include <basal/actors/detail/named_field.hpp>
#include <basal/actors/real.hpp>
#include <basal/solver/batch.hpp>
#include <basal/solver/csr_matrix.hpp>

#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/sec.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace basal::solver {

/// The error codes' name in CAF; `caf::error` has the sentence as its context.
/// `basal::actors::add_solver_messages` says how to print them.
inline constexpr caf::atom_value errc_category = caf::atom("solver");

/// An error of errc_category; that of a thrown one carries its sentence.
/// @{
caf::error make_error(errc code);
caf::error make_error(const error& e);
/// @}

} // namespace basal::solver

namespace basal::actors {

/// A matrix in a message: the pointer within a process, its contents between processes.
/// Requests with the same pointer share the work that depends on the matrix alone.
struct shared_matrix {
  std::shared_ptr<const solver::csr_matrix<double>> matrix; ///< null: none

  shared_matrix() = default;

  /// Implicit, so that a pointer can be given. O(1).
  shared_matrix(std::shared_ptr<const solver::csr_matrix<double>> m) noexcept // NOLINT: implicit
    : matrix(std::move(m)) {
  }
};

namespace detail {

/// A matrix's parts, to be saved, or as they were loaded.
struct matrix_parts {
  bool present = false;
  solver::index_type rows = 0;
  solver::index_type columns = 0;
  std::vector<solver::index_type> row_starts;
  std::vector<solver::index_type> column_indices;
  reals values;

  matrix_parts() = default;
  explicit matrix_parts(const shared_matrix& from);

  /// Checks them as csr_matrix does.
  caf::error assemble(shared_matrix& into);
};

std::string to_string(const matrix_parts& parts);

} // namespace detail

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, shared_matrix& x) {
  if constexpr (detail::field_namer<Inspector>::prints) {
    return f(detail::matrix_parts{x});
  } else {
    detail::matrix_parts parts;
    if constexpr (Inspector::reads_state)
      parts = detail::matrix_parts{x};
    auto load = [&]() -> caf::error { return parts.assemble(x); };
    return f(parts.present, parts.rows, parts.columns, parts.row_starts, parts.column_indices,
             parts.values, caf::meta::load_callback(load));
  }
}

/// Client to service: solve A x = b.
struct solve_message {
  shared_matrix a;                    ///< the matrix
  reals b;                            ///< the right-hand side
  solver::solve_options options = {}; ///< of the analysis and the solve
  solver::budget limits = {};         ///< of the solve
};

/// Client to service: solve all of them.
struct batch_message {
  std::vector<solve_message> requests; ///< in the order of the replies
  std::uint32_t block_width = 0;       ///< see solver::batch_options
};

/// Service to client: how far a solve came. Not to converge is no error.
struct solve_reply {
  std::uint64_t id = 0; ///< as in events

  /// As the fields of solver::solve_result and solver::solve_outcome of the same names.
  /// @{
  solver::state state = solver::state::running;
  solver::budget_kind exhausted = solver::budget_kind::none;
  reals x;
  std::uint64_t iterations = 0;
  std::uint64_t ticks = 0;
  real residual = 1;
  real half_width = 0;
  solver::method chosen = solver::method::automatic;
  solver::preconditioning preconditioner = solver::preconditioning::none;
  std::string why;
  std::chrono::nanoseconds elapsed{0};
  /// @}
};

/// One request of a batch: an error or a reply.
struct batch_entry {
  caf::error failure; ///< none if there is a reply
  solve_reply reply;  ///< if there is no failure
};

/// Service to client: entry i belongs to request i.
struct batch_reply {
  std::vector<batch_entry> entries; ///< as many as requests
};

/// Service to subscriber: events in their order, which follow `lost` others that are not
/// there because the subscriber was slow. Its answer, whichever, asks for more.
struct events_message {
  std::uint64_t lost = 0;                  ///< that are not there
  std::vector<solver::solve_event> events; ///< in their order
};

/// Makes the messages above and the solver's errors known to a system that is not made yet: for
/// a program that spawns a service, and for its clients in other processes.
void add_solver_messages(caf::actor_system_config& config);

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solve_message& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("solve_message"), field("a", x.a), field("b", x.b),
           field("options", x.options), field("limits", x.limits));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, batch_message& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("batch_message"), field("requests", x.requests),
           field("block_width", x.block_width));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solve_reply& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("solve_reply"), field("id", x.id), field("state", x.state),
           field("exhausted", x.exhausted), field("x", x.x), field("iterations", x.iterations),
           field("ticks", x.ticks), field("residual", x.residual),
           field("half_width", x.half_width), field("chosen", x.chosen),
           field("preconditioner", x.preconditioner), field("why", x.why),
           field("elapsed", x.elapsed));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, batch_entry& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("batch_entry"), field("failure", x.failure),
           field("reply", x.reply));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, batch_reply& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("batch_reply"), field("entries", x.entries));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, events_message& x) {
  const detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("events_message"), field("lost", x.lost),
           field("events", x.events));
}

} // namespace basal::actors

// The solver does not know CAF, so its types' inspectors are here, in its namespace.
namespace basal::solver {

/// For CAF's serialisers and deep_to_string; numbers that are no integers travel as actors::real.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solve_options& x) {
  const actors::detail::field_namer<Inspector> field;
  actors::real tolerance = x.tolerance;
  actors::real confidence = x.confidence;
  index_type entry = x.entry.value_or(-1);
  auto load = [&]() -> caf::error {
    x.tolerance = tolerance;
    x.confidence = confidence;
    x.entry = entry < 0 ? std::nullopt : std::optional{entry};
    try {
      validate(x);
    } catch (const error& e) {
      return make_error(e);
    }
    return caf::none;
  };
  return f(caf::meta::type_name("solve_options"), field("method", x.method),
           field("preconditioner", x.preconditioner), field("tolerance", tolerance),
           field("iteration_limit", x.iteration_limit), field("entry", entry),
           field("seed", x.seed), field("walks_per_step", x.walks_per_step),
           field("confidence", confidence), field("order", x.order),
           caf::meta::load_callback(load));
}

/// For CAF's serialisers and deep_to_string; numbers that are no integers travel as actors::real.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, budget& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("budget"), field("ticks", x.ticks),
           field("iterations", x.iterations), field("time", x.time), field("bytes", x.bytes));
}

/// For CAF's serialisers and deep_to_string; numbers that are no integers travel as actors::real.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solve_event& x) {
  const actors::detail::field_namer<Inspector> field;
  auto error_code = x.error.value_or(errc{});
  const auto error_field = [&]() -> decltype(auto) {
    if constexpr (actors::detail::field_namer<Inspector>::prints)
      return field("error", x.error);
    else
      return (error_code);
  };
  auto load = [&]() -> caf::error {
    x.error = error_code == errc{} ? std::nullopt : std::optional{error_code};
    return caf::none;
  };
  return f(caf::meta::type_name("solve_event"), field("kind", x.kind), field("id", x.id),
           field("count", x.count), field("limit", x.limit), field("elapsed", x.elapsed),
           field("converged", x.converged), error_field(), caf::meta::load_callback(load));
}

/// For CAF's serialisers and deep_to_string; counts only.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, scratch_stats& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("scratch_stats"), field("hits", x.hits), field("misses", x.misses),
           field("refused", x.refused), field("bytes", x.bytes));
}

/// For CAF's serialisers and deep_to_string; counts only.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, plan_cache_stats& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(caf::meta::type_name("plan_cache_stats"), field("hits", x.hits),
           field("misses", x.misses), field("evicted", x.evicted), field("plans", x.plans),
           field("bytes", x.bytes));
}

/// For CAF's serialisers and deep_to_string; counts only.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, solver_stats& x) {
  const actors::detail::field_namer<Inspector> field;
  return f(
    caf::meta::type_name("solver_stats"), field("solves_completed", x.solves_completed),
    field("converged", x.converged), field("stalled", x.stalled), field("diverged", x.diverged),
    field("budget_exhausted", x.budget_exhausted), field("failed", x.failed),
    field("rejected", x.rejected), field("timed_out", x.timed_out), field("cancelled", x.cancelled),
    field("batches", x.batches), field("ticks", x.ticks), field("neumann_terms", x.neumann_terms),
    field("walks", x.walks), field("latency_ns", x.latency_ns), field("blocks", x.blocks),
    field("running", x.running), field("waiting", x.waiting), field("events_lost", x.events_lost),
    field("nested_calls", x.nested_calls), field("scratch", x.scratch), field("plans", x.plans));
}

} // namespace basal::solver
