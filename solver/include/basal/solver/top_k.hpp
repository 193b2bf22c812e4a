/// The largest entries of a solution, without the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::solver {

/// Which entries are wanted, and how well.
struct top_k_options {
  std::size_t k = 10; ///< entries wanted, at least 1

  /// Half-width of an entry's interval over its value, and by how much of its value another one
  /// may be larger, at most; above 0, below 1. Entries closer to each other than this are as good
  /// as equal: to tell them apart costs the more the closer they are.
  double tolerance = 1e-3;

  /// Residuals moved; then the answer is what is known by then. A guess: some 0.2 s.
  std::uint64_t push_limit = 1'000'000;
};

/// The entry is value +- half_width, up to rounding errors.
struct ranked_entry {
  index_type index = 0;  ///< of the entry in x
  double value = 0;      ///< the middle of its interval
  double half_width = 0; ///< 0 or more
};

/// The largest entries, and what is proven of them.
struct top_k_result {
  std::vector<ranked_entry> entries; ///< the largest first; fewer than k if fewer are not 0

  bool settled = false; ///< the entries are proven to keep the tolerance
  bool certain = false; ///< no other entry is larger than one of these, which is proven, too

  std::uint64_t pushes = 0; ///< residuals that were moved
};

/// Finds the k largest entries of x = A^-1 b for one sparse b after another, such as the places
/// that are nearest to one by personalised PageRank (`A = pagerank_matrix(links, restart)`,
/// `b = {{place, restart}}`). A is an M-matrix whose columns dominate, and b is not negative; so
/// neither is x. Immutable: any number of threads may ask at the same time; the scratch memory of
/// one question, 24 bytes a row, is kept for the next. A question touches the surroundings of b.
///
/// Forward push (Andersen, Chung, Lang, FOCS 2006) leaves x = p + A^-1 r with r >= 0. The part of x
/// that is not in p has two bounds: max(r) A^-1 1, whose last factor is computed once for all
/// questions, and |r|_1 over the dominance of the columns. It is pushed until they tell the k
/// largest apart. In a graph of a plane that takes less than a hundredth of a solve; where every
/// place is a few links from every other one, half. RuVector's way, exact ranks for 4 k candidates
/// from a search, took some 30 times as many pushes on a web, since much leads to places that rank
/// high.
template <class T>
class top_k_ranker {
public:
  /// Solves one system with A. @throws error: dimension_mismatch; bad_option if A is no
  /// M-matrix; no_convergence_expected if a column does not dominate
  explicit top_k_ranker(std::shared_ptr<const csr_matrix<T>> a);
  ~top_k_ranker();

  top_k_ranker(const top_k_ranker&) = delete;
  top_k_ranker& operator=(const top_k_ranker&) = delete;

  /// b as places and what it is there; places that are named twice add up.
  /// @throws error{bad_option}: a place out of range, a negative or infinite number, an option
  ///         out of its range. std::bad_alloc
  top_k_result rank(std::span<const std::pair<index_type, T>> b,
                    const top_k_options& options = {}) const;

private:
  struct data;
  std::unique_ptr<data> data_;
};

extern template class top_k_ranker<float>;
extern template class top_k_ranker<double>;

} // namespace basal::solver
