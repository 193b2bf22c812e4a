#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <basal/solver/errors.hpp>
#include <basal/solver/events.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/solve_result.hpp>

#include "number_text.hpp"

namespace basal::solver {

namespace {

// Of what is no enumerator.
constexpr std::string_view unknown = "unknown";

} // namespace

std::string_view to_string(errc code) noexcept {
  switch (code) {
  case errc::dimension_mismatch:
    return "dimension_mismatch";
  case errc::malformed_matrix:
    return "malformed_matrix";
  case errc::not_finite:
    return "not_finite";
  case errc::zero_diagonal:
    return "zero_diagonal";
  case errc::not_symmetric:
    return "not_symmetric";
  case errc::no_convergence_expected:
    return "no_convergence_expected";
  case errc::bad_option:
    return "bad_option";
  case errc::too_large:
    return "too_large";
  case errc::bad_file:
    return "bad_file";
  case errc::too_busy:
    return "too_busy";
  case errc::timed_out:
    return "timed_out";
  case errc::cancelled:
    return "cancelled";
  case errc::stopped:
    return "stopped";
  case errc::out_of_scratch:
    return "out_of_scratch";
  case errc::nested:
    return "nested";
  case errc::internal:
    return "internal";
  }
  return unknown;
}

std::string_view to_string(summation order) noexcept {
  return order == summation::portable ? "portable" : "native";
}

std::string_view to_string(preconditioning p) noexcept {
  switch (p) {
  case preconditioning::automatic:
    return "automatic";
  case preconditioning::none:
    return "none";
  case preconditioning::jacobi:
    return "jacobi";
  case preconditioning::incomplete:
    return "incomplete";
  case preconditioning::threshold:
    return "threshold";
  case preconditioning::nearly_complete:
    return "nearly_complete";
  }
  return unknown;
}

std::string_view to_string(state s) noexcept {
  switch (s) {
  case state::running:
    return "running";
  case state::converged:
    return "converged";
  case state::stalled:
    return "stalled";
  case state::diverged:
    return "diverged";
  case state::budget_exhausted:
    return "budget_exhausted";
  }
  return unknown;
}

std::string_view to_string(event_kind kind) noexcept {
  switch (kind) {
  case event_kind::solve_started:
    return "solve_started";
  case event_kind::solve_completed:
    return "solve_completed";
  case event_kind::solve_failed:
    return "solve_failed";
  case event_kind::batch_started:
    return "batch_started";
  case event_kind::batch_completed:
    return "batch_completed";
  case event_kind::concurrency_limit_reached:
    return "concurrency_limit_reached";
  }
  return unknown;
}

namespace {

// All enumerators of these count up from 0, and beyond the last one there is no name.
template <class Enum>
std::optional<Enum> from_name(std::string_view name) noexcept {
  for (std::uint8_t number = 0; to_string(Enum{number}) != unknown; ++number)
    if (name == to_string(Enum{number}))
      return Enum{number};
  return std::nullopt;
}

} // namespace

std::optional<method> method_from(std::string_view name) noexcept {
  return from_name<method>(name);
}

std::optional<preconditioning> preconditioning_from(std::string_view name) noexcept {
  return from_name<preconditioning>(name);
}

void validate(const solve_options& options) {
  const auto demand = [](bool holds, const char* sentence, double is) {
    if (!holds)
      throw error{errc::bad_option, std::string{sentence} + ", not " + detail::number_text(is, 6)};
  };
  demand(options.tolerance >= 0 && std::isfinite(options.tolerance),
         "tolerance must be finite and at least 0", options.tolerance);
  demand(options.confidence > 0 && options.confidence < 1, "confidence must be above 0 and below 1",
         options.confidence);
  demand(options.walks_per_step > 0, "walks_per_step must be at least 1", 0);
  demand(!options.entry || *options.entry >= 0, "entry must be at least 0",
         options.entry.value_or(0));
  demand(to_string(options.method) != unknown, "method must be one of the enumeration",
         static_cast<double>(options.method));
  demand(to_string(options.preconditioner) != unknown,
         "preconditioner must be one of the enumeration",
         static_cast<double>(options.preconditioner));
}

} // namespace basal::solver
