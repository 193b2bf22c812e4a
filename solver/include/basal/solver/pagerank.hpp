/// Personalised PageRank as a linear system.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/solve_result.hpp>

namespace basal::solver {

/// How PageRank is computed.
struct pagerank_options {
  /// Probability with which the surfer starts again; above 0, below 1.
  double restart = 0.15;

  /// method::automatic solves by Neumann's series, which here is the power iteration, or by
  /// conjugate gradients or BiCGSTAB where it would be slow; forward_push pays where the restarts
  /// go to few places of a large graph.
  solve_options solving = {.tolerance = 1e-9};
};

/// I - (1 - restart) P', where row i of P holds the weights of the links from i divided by their
/// sum. A row without links stays empty. Square; weights at least 0; else throws
/// error{dimension_mismatch} or error{bad_option}.
template <class T>
csr_matrix<T> pagerank_matrix(const csr_matrix<T>& links, double restart);

/// Ranks of all places of a graph, whose sum is 1, for a surfer who with probability `restart`
/// starts again at a place drawn from `restarts` (weights of at least 0, of any positive sum), and
/// does so always where no link leads on. That the latter needs no dense row but only the final
/// division is due to Del Corso, Gulli, Romani, "Fast PageRank computation via a sparse linear
/// system", Internet Math. 2 (2005).
///
/// Throws error as pagerank_matrix, and bad_option for other restarts. The result's state may be
/// any; its residual is that of the linear system.
template <class T>
solve_result<T> personalised_pagerank(const csr_matrix<T>& links, std::span<const T> restarts,
                                      const pagerank_options& options = {});

/// The rank of `target` for a surfer who starts at `source`, before that final division (that is,
/// the surfer's walk ends where no link leads on), with an interval. By random walks, or by
/// backward_push if options.solving.method says so; loosely (the tolerance is relative) it costs
/// less than all ranks.
template <class T>
solve_result<T> pagerank_of(const csr_matrix<T>& links, index_type source, index_type target,
                            const pagerank_options& options = {});

#define BASAL_EXTERN(T)                                                                            \
  extern template csr_matrix<T> pagerank_matrix(const csr_matrix<T>&, double);                     \
  extern template solve_result<T> personalised_pagerank(const csr_matrix<T>&, std::span<const T>,  \
                                                        const pagerank_options&);                  \
  extern template solve_result<T> pagerank_of(const csr_matrix<T>&, index_type, index_type,        \
                                              const pagerank_options&);
BASAL_EXTERN(float)
BASAL_EXTERN(double)
#undef BASAL_EXTERN

} // namespace basal::solver
