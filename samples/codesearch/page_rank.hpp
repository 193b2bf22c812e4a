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
/// PageRank Citation Ranking", 1999).
///
/// With H the row-stochastic matrix of the graph and d the damping, adds up the Neumann series
/// sum over k of (d * transpose(H))^k v, v uniform, and scales the sum to 1. Files that include
/// nothing just end the series' paths; after scaling that equals the usual rule that they lead
/// everywhere, since that rule only adds a multiple of v. Include graphs have few cycles, so terms
/// vanish soon: the series stops when d/(1-d) times the sum of a term, which bounds the sum of all
/// later terms, plus that term is below `tolerance` times the sum so far. Sequential; the same
/// result bit for bit on the same graph.
[[nodiscard]] page_rank_result page_rank(const include_graph& graph,
                                         const page_rank_options& options = {});

} // namespace codesearch
