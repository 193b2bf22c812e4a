#include "page_rank.hpp"

#include <basal/solver/pagerank.hpp>

#include <utility>

namespace codesearch {

namespace {

/// A 1 for each file that a file includes.
basal::solver::csr_matrix<double> links_of(const include_graph& graph) {
  using basal::solver::index_type;
  const auto files = static_cast<index_type>(graph.files());
  std::vector<index_type> starts{0};
  std::vector<index_type> targets;
  starts.reserve(graph.files() + 1);
  targets.reserve(graph.edges());
  for (std::size_t file = 0; file < graph.files(); ++file) {
    for (const std::uint32_t target : graph.targets(file)) {
      targets.push_back(static_cast<index_type>(target));
    }
    starts.push_back(static_cast<index_type>(targets.size()));
  }
  std::vector<double> ones(targets.size(), 1.0);
  return {files, files, std::move(starts), std::move(targets), std::move(ones)};
}

} // namespace

page_rank_result page_rank(const include_graph& graph, const page_rank_options& options) {
  const std::size_t n = graph.files();
  page_rank_result result;
  if (n == 0) {
    return result;
  }
  const std::vector<double> everywhere(n, 1.0);
  auto solved = basal::solver::personalised_pagerank<double>(
    links_of(graph), everywhere,
    {.restart = 1 - options.damping,
     .solving = {.method = basal::solver::method::neumann,
                 .tolerance = options.tolerance,
                 .iteration_limit = options.max_terms,
                 .order = basal::solver::summation::portable}});
  result.rank = std::move(solved.x);
  result.terms = solved.iterations;
  result.converged = solved.state == basal::solver::state::converged;
  return result;
}

} // namespace codesearch
