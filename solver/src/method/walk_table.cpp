#include "method/walk_table.hpp"

#include <algorithm>
#include <cmath>

namespace basal::solver::detail {

namespace {

// Up to here looking at one after the other beats bisection.
constexpr std::ptrdiff_t linear_search = 16;

} // namespace

template <class T>
walk_table::walk_table(const csr_matrix<T>& a)
  : row_starts(1, 0), end_weight(static_cast<std::size_t>(a.rows())) {
  steps.reserve(static_cast<std::size_t>(a.nonzeros()));
  row_starts.reserve(end_weight.size() + 1);
  const auto diagonal = a.diagonal();
  for (index_type r = 0; r < a.rows(); ++r) {
    const auto columns = a.row_columns(r);
    const auto values = a.row_values(r);
    const double pivot = diagonal[static_cast<std::size_t>(r)];
    double sum = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (columns[k] == r || values[k] == 0)
        continue;
      const double h = -static_cast<double>(values[k]) / pivot;
      sum += std::abs(h);
      steps.push_back({sum, h < 0 ? ~columns[k] : columns[k]});
    }
    row_starts.push_back(static_cast<index_type>(steps.size()));
    end_weight[static_cast<std::size_t>(r)] = 1 / (pivot * (1 - sum));
  }
}

const walk_table::step* walk_table::next(index_type row, double u) const noexcept {
  const auto* first = steps.data() + row_starts[static_cast<std::size_t>(row)];
  const auto* last = steps.data() + row_starts[static_cast<std::size_t>(row) + 1];
  if (last - first > linear_search)
    first = std::upper_bound(first, last, u, [](double x, const step& s) { return x < s.until; });
  else
    while (first != last && first->until <= u)
      ++first;
  return first == last ? nullptr : first;
}

template walk_table::walk_table(const csr_matrix<float>&);
template walk_table::walk_table(const csr_matrix<double>&);

} // namespace basal::solver::detail
