#include "factor/matched_matrix.hpp"

#include <string>
#include <utility>

#include <basal/solver/errors.hpp>

#include "at.hpp"
#include "factor/maximum_transversal.hpp"

namespace basal::solver::detail {

template <class T>
matched_matrix match(const csr_matrix<T>& a) {
  auto chosen = find_maximum_transversal(a);
  const auto n = at(a.rows());
  if (chosen.matched < a.rows())
    throw error{errc::zero_diagonal,
                "the matrix is structurally singular: of its " + std::to_string(n) + " rows only "
                  + std::to_string(chosen.matched) + " can be given a column of their own"};
  matched_matrix m;
  m.row_order.resize(n);
  for (index_type r = 0; r < a.rows(); ++r)
    m.row_order[at(chosen.column_of_row[at(r)])] = r;
  std::vector<index_type> starts{0};
  std::vector<index_type> columns;
  std::vector<double> values;
  starts.reserve(n + 1);
  columns.reserve(at(a.nonzeros()));
  values.reserve(at(a.nonzeros()));
  for (const index_type r : m.row_order) {
    const double scale = chosen.row_scale[at(r)];
    m.row_scale.push_back(scale);
    const auto cols = a.row_columns(r);
    const auto vals = a.row_values(r);
    for (std::size_t k = 0; k < cols.size(); ++k) {
      if (vals[k] == 0)
        continue;
      columns.push_back(cols[k]);
      values.push_back(scale * static_cast<double>(vals[k]) * chosen.column_scale[at(cols[k])]);
    }
    starts.push_back(static_cast<index_type>(columns.size()));
  }
  m.column_scale = std::move(chosen.column_scale);
  m.matrix = csr_matrix<double>{a.rows(), a.columns(), std::move(starts), std::move(columns),
                                std::move(values)};
  return m;
}

template matched_matrix match(const csr_matrix<float>&);
template matched_matrix match(const csr_matrix<double>&);

} // namespace basal::solver::detail
