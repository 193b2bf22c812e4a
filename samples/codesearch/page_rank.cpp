#include "page_rank.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace codesearch {

page_rank_result page_rank(const include_graph& graph, const page_rank_options& options) {
  const std::size_t n = graph.files();
  page_rank_result result;
  if (n == 0) {
    return result;
  }
  const double d = options.damping;
  std::vector<double> term(n, 1.0 / static_cast<double>(n));
  std::vector<double> next(n);
  result.rank = term;
  result.terms = 1;
  double sum = 1.0;
  for (;;) {
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t file = 0; file < n; ++file) {
      const auto targets = graph.targets(file);
      if (targets.empty() || term[file] == 0.0) {
        continue;
      }
      const double share = d * term[file] / static_cast<double>(targets.size());
      for (const std::uint32_t target : targets) {
        next[target] += share;
      }
    }
    std::swap(term, next);
    const double term_sum = std::accumulate(term.begin(), term.end(), 0.0);
    if (term_sum * d / (1.0 - d) + term_sum <= options.tolerance * sum) {
      break; // this term and all behind it are below the tolerance
    }
    if (result.terms == options.max_terms) {
      result.converged = false;
      break;
    }
    for (std::size_t file = 0; file < n; ++file) {
      result.rank[file] += term[file];
    }
    sum += term_sum;
    ++result.terms;
  }
  for (double& r : result.rank) {
    r /= sum;
  }
  return result;
}

} // namespace codesearch
