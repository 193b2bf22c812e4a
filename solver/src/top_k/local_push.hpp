// Forward push (Andersen, Chung, Lang, FOCS 2006) on a part of a large M-matrix: what it costs
// depends on the places it gets to, and so does clearing it for the next time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver::detail {

// Keeps x = estimate + A^-1 residual, with residuals that are not negative.
class local_push {
public:
  // Together, as a push from somewhere far finds none of it in a cache.
  struct place {
    double estimate = 0;
    double residual = 0;
    bool touched = false; // in touched()
    bool listed = false;  // in next_
  };

  explicit local_push(std::size_t size) : places_(size) {
  }

  const place& operator[](index_type i) const noexcept {
    return places_[static_cast<std::size_t>(i)];
  }

  // Places that may not be all zeros, each once.
  std::span<const index_type> touched() const noexcept {
    return touched_;
  }

  void add_residual(index_type i, double amount) {
    auto& p = places_[static_cast<std::size_t>(i)];
    if (!p.touched) {
      touched_.push_back(i);
      p.touched = true;
    }
    p.residual += amount;
  }

  // Pushes what exceeds the threshold, in rounds, until nothing does or `left` pushes are made,
  // which it counts down. Row i of `columns` is column i of A.
  template <class T>
  void run(const csr_matrix<T>& columns, std::span<const double> inverse_diagonal, double threshold,
           std::uint64_t& left) {
    for (const index_type i : touched_)
      list(i, threshold);
    while (!next_.empty()) {
      std::swap(now_, next_);
      for (const index_type i : now_) {
        auto& from = places_[static_cast<std::size_t>(i)];
        from.listed = false;
        if (left == 0)
          continue; // none may stay listed
        --left;
        const double amount
          = std::exchange(from.residual, 0.0) * inverse_diagonal[static_cast<std::size_t>(i)];
        from.estimate += amount;
        const auto rows = columns.row_columns(i);
        const auto values = columns.row_values(i);
        for (std::size_t k = 0; k < rows.size(); ++k) {
          if (rows[k] == i)
            continue;
          add_residual(rows[k], -amount * static_cast<double>(values[k]));
          list(rows[k], threshold);
        }
      }
      now_.clear();
    }
  }

  double largest_residual() const noexcept {
    double most = 0;
    for (const index_type i : touched_)
      most = std::max(most, (*this)[i].residual);
    return most;
  }

  double residual_sum() const noexcept {
    double all = 0;
    for (const index_type i : touched_)
      all += (*this)[i].residual;
    return all;
  }

  void clear() noexcept {
    for (const index_type i : touched_)
      places_[static_cast<std::size_t>(i)] = {};
    touched_.clear();
    now_.clear(); // these two are empty unless memory ran out
    next_.clear();
  }

private:
  void list(index_type i, double threshold) {
    auto& p = places_[static_cast<std::size_t>(i)];
    if (!p.listed && p.residual > threshold) {
      p.listed = true;
      next_.push_back(i);
    }
  }

  std::vector<place> places_;
  std::vector<index_type> touched_;
  std::vector<index_type> now_;
  std::vector<index_type> next_;
};

} // namespace basal::solver::detail
