#include "factor/symbolic_fill.hpp"

#include <vector>

namespace basal::solver::detail {

// Row k of L has an entry for each unknown that is met on the way from A's entries in row k up the
// elimination tree to k.
std::size_t symbolic_fill(const csr_matrix<double>& a, std::span<const index_type> order,
                          std::size_t limit) {
  const auto at = [](index_type i) { return static_cast<std::size_t>(i); };
  const auto t = a.transposed();
  std::vector<index_type> place_of(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    place_of[at(order[k])] = static_cast<index_type>(k);
  std::vector<index_type> parent(order.size(), -1);
  std::vector<index_type> met_by(order.size(), -1);
  std::size_t entries = 0;
  for (std::size_t k = 0; k < order.size() && entries <= limit; ++k) {
    const auto here = static_cast<index_type>(k);
    met_by[k] = here;
    for (const auto neighbours : {a.row_columns(order[k]), t.row_columns(order[k])}) {
      for (const index_type j : neighbours) {
        for (auto i = place_of[at(j)]; i < here && met_by[at(i)] != here; i = parent[at(i)]) {
          if (parent[at(i)] < 0)
            parent[at(i)] = here;
          met_by[at(i)] = here;
          ++entries;
        }
      }
    }
  }
  return entries;
}

} // namespace basal::solver::detail
