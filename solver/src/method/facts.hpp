// Facts about a method for the router, the batches and the programs. Each method's class carries
// its own, and methods.hpp finds the class: nothing else lists the methods.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <basal/solver/solve_options.hpp>

namespace basal::solver::detail {

enum class reading : std::uint8_t {
  products, // A x alone, so that a matrix-free operator will do
  columns,  // the transpose's rows
  walks,    // a walk_table
};

enum class dominance : std::uint8_t { none, rows, columns };

enum class factor_kind : std::uint8_t { none, cholesky, lu };

struct method_facts {
  std::string_view name;

  // Its demands on the matrix.
  detail::reading reading = reading::products;
  bool divides_by_diagonal = false;
  bool needs_symmetry = false;
  bool needs_contraction = false; // the spectral radius of I - D^-1 A below 1
  dominance needs_dominance = dominance::none;

  // Its abilities.
  bool one_entry = false;                 // computes options.entry alone, not all of x
  bool preconditioned = false;            // by the caller's choice; others take the diagonal
  factor_kind factor = factor_kind::none; // for preconditioning::incomplete
  bool complete_factor = false;           // solves with one
  bool in_blocks = false;                 // block_stepper knows it, without a factor
  bool series = false;                    // a step adds a term of the Neumann series

  // When it is given up. A convergent series may grow at first where I - D^-1 A is not normal; 10
  // is beyond that. The residual of a Krylov method may rise by the root of the condition number
  // before it falls.
  double growth = 1e8;           // this many times the best residual is divergence
  std::uint64_t patience = 1000; // this many steps without a new best residual are a stall
};

// Of `automatic` the name alone says something.
const method_facts& facts_of(method m) noexcept;

} // namespace basal::solver::detail
