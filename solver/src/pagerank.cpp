#include <basal/solver/pagerank.hpp>

#include <cmath>
#include <string>
#include <utility>

#include <basal/solver/errors.hpp>
#include <basal/solver/solve.hpp>
#include <basal/solver/triplets.hpp>

namespace basal::solver {

namespace {

void check_restart(double restart) {
  if (!(restart > 0 && restart < 1))
    throw error{errc::bad_option,
                "restart must be above 0 and below 1, not " + std::to_string(restart)};
}

// I - (1 - restart) P: its rows are what the surfer sees.
template <class T>
csr_matrix<T> transposed_matrix(const csr_matrix<T>& links, double restart) {
  check_restart(restart);
  if (!links.is_square())
    throw error{errc::dimension_mismatch, "links from " + std::to_string(links.rows())
                                            + " places to " + std::to_string(links.columns())};
  triplets<T> entries{links.rows(), links.rows()};
  entries.reserve(static_cast<std::size_t>(links.nonzeros())
                  + static_cast<std::size_t>(links.rows()));
  for (index_type r = 0; r < links.rows(); ++r) {
    entries.add(r, r, 1);
    const auto columns = links.row_columns(r);
    const auto weights = links.row_values(r);
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (weights[k] < 0)
        throw error{errc::bad_option, "the link from " + std::to_string(r) + " to "
                                        + std::to_string(columns[k]) + " has the negative weight "
                                        + std::to_string(weights[k])};
      sum += static_cast<double>(weights[k]);
    }
    for (std::size_t k = 0; k < weights.size() && sum > 0; ++k)
      entries.add(r, columns[k],
                  static_cast<T>((restart - 1) * (static_cast<double>(weights[k]) / sum)));
  }
  return std::move(entries).build();
}

} // namespace

template <class T>
csr_matrix<T> pagerank_matrix(const csr_matrix<T>& links, double restart) {
  return transposed_matrix(links, restart).transposed();
}

template <class T>
solve_result<T> personalised_pagerank(const csr_matrix<T>& links, std::span<const T> restarts,
                                      const pagerank_options& options) {
  if (options.solving.entry)
    throw error{errc::bad_option, "ranks are relative to each other, so one entry is not enough; "
                                  "see pagerank_of"};
  auto matrix = std::make_shared<const csr_matrix<T>>(pagerank_matrix(links, options.restart));
  if (restarts.size() != static_cast<std::size_t>(links.rows()))
    throw error{errc::dimension_mismatch, std::to_string(restarts.size()) + " restarts for "
                                            + std::to_string(links.rows()) + " places"};
  double sum = 0;
  for (const T w : restarts) {
    if (!(w >= 0))
      throw error{errc::bad_option, "a restart has the weight " + std::to_string(w)};
    sum += static_cast<double>(w);
  }
  if (!(sum > 0) || !std::isfinite(sum))
    throw error{errc::bad_option, "restarts add up to " + std::to_string(sum)};
  std::vector<T> b(restarts.begin(), restarts.end());
  for (auto& w : b)
    w = static_cast<T>(static_cast<double>(w) / sum);
  auto result = solve<T>(linear_operator<T>{std::move(matrix)}, b, options.solving);
  double total = 0;
  for (auto& rank : result.x) {
    rank = rank < 0 ? T{0} : rank; // a rounding error
    total += static_cast<double>(rank);
  }
  if (total > 0) {
    for (auto& rank : result.x)
      rank = static_cast<T>(static_cast<double>(rank) / total);
  }
  return result;
}

// e_t' (I - (1 - a) P')^-1 a e_s = e_s' (I - (1 - a) P)^-1 a e_t: an entry of the transposed
// system, whose rows dominate.
template <class T>
solve_result<T> pagerank_of(const csr_matrix<T>& links, index_type source, index_type target,
                            const pagerank_options& options) {
  auto matrix = std::make_shared<const csr_matrix<T>>(transposed_matrix(links, options.restart));
  for (const index_type place : {source, target}) {
    if (place < 0 || place >= links.rows())
      throw error{errc::bad_option,
                  "place " + std::to_string(place) + " of " + std::to_string(links.rows())};
  }
  std::vector<T> b(static_cast<std::size_t>(links.rows()), T{0});
  b[static_cast<std::size_t>(target)] = static_cast<T>(options.restart);
  auto solving = options.solving;
  solving.entry = source;
  return solve<T>(linear_operator<T>{std::move(matrix)}, b, solving);
}

#define BASAL_INSTANTIATE(T)                                                                       \
  template csr_matrix<T> pagerank_matrix(const csr_matrix<T>&, double);                            \
  template solve_result<T> personalised_pagerank(const csr_matrix<T>&, std::span<const T>,         \
                                                 const pagerank_options&);                         \
  template solve_result<T> pagerank_of(const csr_matrix<T>&, index_type, index_type,               \
                                       const pagerank_options&);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver
