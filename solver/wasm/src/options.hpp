// Options by their names: the host passes on what its caller wrote and knows no list of them.
#pragma once

#include <string_view>

#include <basal/solver/pagerank.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/top_k.hpp>

namespace basal::solver::wasm {

// Of any of the calls; each reads its own.
struct options {
  solve_options solving;
  top_k_options top_k;
  double restart = pagerank_options{}.restart;

  // Sums have native's bits only in this order, so that there is no choice.
  options() {
    solving.order = summation::portable;
  }

  // Throws error{bad_option}: no such option, or a value of the wrong kind.
  void set(std::string_view name, std::string_view value);
};

} // namespace basal::solver::wasm
