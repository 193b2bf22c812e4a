#include "true_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "method/iteration.hpp"

namespace basal::solver::detail {

namespace {

template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

// Of a number whose square has all of its digits.
template <class T>
constexpr double least_square = std::numeric_limits<T>::min();

// A sum and what rounding took from it.
struct twofold {
  double sum = 0;
  double error = 0;

  void add(double y) noexcept {
    const double total = sum + y;
    const double part = total - sum;
    error += (sum - (total - part)) + (y - part);
    sum = total;
  }

  template <class T>
  void subtract_product(T x, T y) noexcept {
    const double p = double{x} * double{y};
    if constexpr (std::is_same_v<T, double>) {
      add(-p);
      error -= std::fma(x, y, -p);
    } else { // p is exact, and a double twice as precise as x
      sum -= p;
    }
  }

  double value() const noexcept {
    return sum + error;
  }
};

template <class T>
double largest(const column_of<T>& of) noexcept {
  double most = 0;
  for (std::size_t i = of.column; i < of.x.size(); i += of.width)
    most = std::max(most, std::abs(static_cast<double>(of.x[i])));
  return most;
}

} // namespace

template <class T>
double rounding_of_products(const csr_matrix<T>& a) noexcept {
  double squares = 0;
  std::size_t longest = 0;
  for (index_type row = 0; row < a.rows(); ++row) {
    double sum = 0;
    for (const T v : a.row_values(row))
      sum += std::abs(static_cast<double>(v));
    squares += sum * sum;
    longest = std::max(longest, a.row_values(row).size());
  }
  return static_cast<double>(longest + 1) * unit_roundoff<T> * std::sqrt(squares);
}

template <class T>
double precise_norm(const plan_data<T>& plan, double norm, const column_of<T>& of) noexcept {
  const double rounding = plan.rounding_of_products * largest(of) + unit_roundoff<T> * of.b_norm;
  const double tolerance = reachable<T>(plan.options.tolerance) * of.b_norm;
  const bool may_deceive = std::abs(norm - tolerance) <= rounding;
  const bool squares_vanish = norm * norm < static_cast<double>(plan.size()) * least_square<T>;
  if (!plan.a.matrix() || !(may_deceive || squares_vanish))
    return norm;
  const auto& a = *plan.a.matrix();
  double squares = 0;
  auto at = of.column;
  for (index_type row = 0; row < a.rows(); ++row, at += of.width) {
    const auto columns = a.row_columns(row);
    const auto values = a.row_values(row);
    twofold r{of.b[at]};
    for (std::size_t k = 0; k < values.size(); ++k)
      r.subtract_product(values[k],
                         of.x[static_cast<std::size_t>(columns[k]) * of.width + of.column]);
    const double value = r.value();
    if (!std::isfinite(value)) // sums in this order overflow
      return norm;
    const double relative = value / of.b_norm;
    squares += relative * relative;
  }
  return of.b_norm * std::sqrt(squares);
}

template <class T>
double true_residual(const plan_data<T>& plan, double b_norm, std::span<const T> x,
                     std::span<const T> b, std::span<T> r) noexcept {
  const double norm = std::sqrt(plan.a.residual(x, b, r, plan.options.order));
  return precise_norm<T>(plan, norm, {0, 1, b_norm, x, b});
}

#define BASAL_INSTANTIATE(T)                                                                       \
  template double rounding_of_products(const csr_matrix<T>&) noexcept;                             \
  template double precise_norm(const plan_data<T>&, double, const column_of<T>&) noexcept;         \
  template double true_residual(const plan_data<T>&, double, std::span<const T>,                   \
                                std::span<const T>, std::span<T>) noexcept;

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::detail
