#pragma once

#include <cstddef>
#include <vector>

#include "include_graph.hpp"

namespace codesearch {

struct page_rank_options {
  double damping = 0.85;   ///< share of a file's rank that goes on to what it includes
  double tolerance = 1e-9; ///< bound on the sum of the absolute errors
  std::size_t max_terms = 1000;
};

struct page_rank_result {
  std::vector<double> rank; ///< by file; the sum is 1
  std::size_t terms = 0;    ///< of the series that were added
  bool converged = true;    ///< false if `max_terms` ended the series
};

/// PageRank: a file has rank when ranked files include it (Page, Brin, Motwani, Winograd, "The
/// PageRank Citation Ranking", 1999), by basal's solver.
///
/// With H the row-stochastic matrix of the graph and d the damping, the ranks x solve
/// x - d * transpose(H) x = (1 - d) v with v uniform, up to a factor that makes their sum 1. Files
/// that include nothing just have an empty row; after scaling that equals the usual rule that
/// they lead everywhere, since that rule only adds a multiple of v. The solver sums the Neumann
/// series over (d * transpose(H))^k until the residual's 2-norm is `tolerance` times that of
/// (1 - d) v. The error's 1-norm is at most 1/(1-d) times the residual's, which is at most
/// sqrt(n) times its 2-norm; so it is at most `tolerance`. Include graphs have few cycles, so
/// that few terms are enough. Sequential; the same result bit for bit on the same graph, on any
/// CPU.
[[nodiscard]] page_rank_result page_rank(const include_graph& graph,
                                         const page_rank_options& options = {});

} // namespace codesearch
