// A matrix as the host holds it.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/solve_plan.hpp>
#include <basal/solver/top_k.hpp>

namespace basal::solver::wasm {

// With what was computed for it and is likely to be asked for again. Solves that are under way
// share the matrix, so that it may be destroyed at any time.
class held_matrix {
public:
  explicit held_matrix(csr_matrix<double> matrix)
    : matrix_(std::make_shared<const csr_matrix<double>>(std::move(matrix))) {
  }

  const csr_matrix<double>& get() const noexcept {
    return *matrix_;
  }

  // The plan for these options, made anew only when they differ from the last ones.
  const solve_plan<double>& plan(const solve_options& options) {
    if (!plan_ || plan_->options() != options) {
      plan_.reset(); // its memory first
      plan_.emplace(matrix_, options);
    }
    return *plan_;
  }

  const top_k_ranker<double>& ranker() {
    if (!ranker_)
      ranker_ = std::make_unique<top_k_ranker<double>>(matrix_);
    return *ranker_;
  }

private:
  std::shared_ptr<const csr_matrix<double>> matrix_;
  std::optional<solve_plan<double>> plan_;
  std::unique_ptr<top_k_ranker<double>> ranker_;
};

} // namespace basal::solver::wasm
