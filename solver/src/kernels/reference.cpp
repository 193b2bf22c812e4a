#include <basal/solver/detail/kernels/reference.hpp>

#include <algorithm>
#include <vector>

#include <basal/solver/detail/packed_rows.hpp>

namespace basal::solver::kernels::reference {

namespace {

template <class T>
constexpr std::size_t block_lanes = detail::alignment / sizeof(T);

// Adds product(i) for i below `size`, summand i to partial sum i mod `lanes`, those by halves.
template <class T, class Product>
T sum_in_lanes(std::size_t lanes, std::size_t size, Product product) {
  std::vector<T> sums(lanes, T{0});
  for (std::size_t i = 0; i < size; ++i)
    sums[i % lanes] += product(i);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l)
      sums[l] += sums[l + half];
  }
  return sums[0];
}

template <class T>
T row_product(const csr_matrix<T>& a, index_type row, std::span<const T> x) {
  const auto columns = a.row_columns(row);
  const auto values = a.row_values(row);
  const bool is_long = values.size() >= static_cast<std::size_t>(detail::packed_rows<T>::long_row);
  return sum_in_lanes<T>(is_long ? 2 * block_lanes<T> : 1, values.size(), [&](std::size_t k) {
    return values[k] * x[static_cast<std::size_t>(columns[k])];
  });
}

} // namespace

template <class T>
double dot(std::span<const T> x, std::span<const T> y) {
  return sum_in_lanes<T>(4 * block_lanes<T>, x.size(), [&](std::size_t i) { return x[i] * y[i]; });
}

template <class T>
void multiply(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y) {
  for (index_type r = 0; r < a.rows(); ++r)
    y[static_cast<std::size_t>(r)] = row_product(a, r, x);
}

template <class T>
double multiply_dot(const csr_matrix<T>& a, std::span<const T> x, std::span<T> y) {
  multiply(a, x, y);
  return sum_in_lanes<T>(block_lanes<T>, y.size(), [&](std::size_t i) { return x[i] * y[i]; });
}

template <class T>
double residual(const csr_matrix<T>& a, std::span<const T> x, std::span<const T> b,
                std::span<T> r) {
  multiply(a, x, r);
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = b[i] - r[i];
  return sum_in_lanes<T>(block_lanes<T>, r.size(), [&](std::size_t i) { return r[i] * r[i]; });
}

template <class T>
double neumann_term(const csr_matrix<T>& a, std::span<const T> t, std::span<const T> d,
                    std::span<T> x, std::span<T> r, std::span<T> next) {
  multiply(a, t, next);
  for (std::size_t i = 0; i < r.size(); ++i) {
    x[i] += t[i];
    r[i] -= next[i];
    next[i] = d[i] * r[i];
  }
  return sum_in_lanes<T>(block_lanes<T>, r.size(), [&](std::size_t i) { return r[i] * r[i]; });
}

template <class T>
void multiply_block(const csr_matrix<T>& a, std::size_t width, std::span<const T> x,
                    std::span<T> y) {
  std::fill(y.begin(), y.end(), T{0});
  for (index_type r = 0; r < a.rows(); ++r) {
    const auto columns = a.row_columns(r);
    const auto values = a.row_values(r);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (std::size_t k = 0; k < width; ++k)
        y[static_cast<std::size_t>(r) * width + k]
          += values[i] * x[static_cast<std::size_t>(columns[i]) * width + k];
    }
  }
}

#define BASAL_INSTANTIATE(T)                                                                       \
  template double dot(std::span<const T>, std::span<const T>);                                     \
  template void multiply(const csr_matrix<T>&, std::span<const T>, std::span<T>);                  \
  template double multiply_dot(const csr_matrix<T>&, std::span<const T>, std::span<T>);            \
  template double residual(const csr_matrix<T>&, std::span<const T>, std::span<const T>,           \
                           std::span<T>);                                                          \
  template double neumann_term(const csr_matrix<T>&, std::span<const T>, std::span<const T>,       \
                               std::span<T>, std::span<T>, std::span<T>);                          \
  template void multiply_block(const csr_matrix<T>&, std::size_t, std::span<const T>, std::span<T>);

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::kernels::reference
