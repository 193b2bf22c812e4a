#include "true_residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "method/iteration.hpp"
#include "squares.hpp"

namespace basal::solver::detail {

namespace {

template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;

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
  double most = 0;
  double squares = 0; // of parts of the largest sum, which neither vanish nor overflow
  std::size_t longest = 0;
  for (index_type row = 0; row < a.rows(); ++row) {
    double sum = 0;
    for (const T v : a.row_values(row))
      sum += std::abs(static_cast<double>(v));
    longest = std::max(longest, a.row_values(row).size());
    if (sum > most) {
      squares = 1 + squares * (most / sum) * (most / sum);
      most = sum;
    } else if (most > 0) {
      squares += (sum / most) * (sum / most);
    }
  }
  return static_cast<double>(longest + 1) * unit_roundoff<T> * most * std::sqrt(squares);
}

template <class T>
double precise_residual(const plan_data<T>& plan, double residual,
                        const column_of<T>& of) noexcept {
  const double rounding = plan.rounding_of_products * (largest(of) / of.b_norm) + unit_roundoff<T>;
  const auto may_be_below = [&](double limit) { return std::abs(residual - limit) <= rounding; };
  if (!plan.a.matrix() || !(may_be_below(reachable<T>(plan.options.tolerance)) || may_be_below(1)))
    return residual;
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
    const double value = r.value() / of.b_norm;
    if (!std::isfinite(value)) // sums in this order overflow
      return residual;
    squares += value * value;
  }
  return std::sqrt(squares);
}

template <class T>
double true_residual(const plan_data<T>& plan, double b_norm, std::span<const T> x,
                     std::span<const T> b, std::span<T> r) noexcept {
  plan.a.residual(x, b, r, plan.options.order);
  return precise_residual<T>(plan, std::sqrt(squares<T>(r, 1 / b_norm)), {0, 1, b_norm, x, b});
}

#define BASAL_INSTANTIATE(T)                                                                       \
  template double rounding_of_products(const csr_matrix<T>&) noexcept;                             \
  template double precise_residual(const plan_data<T>&, double, const column_of<T>&) noexcept;     \
  template double true_residual(const plan_data<T>&, double, std::span<const T>,                   \
                                std::span<const T>, std::span<T>) noexcept;

BASAL_INSTANTIATE(float)
BASAL_INSTANTIATE(double)

} // namespace basal::solver::detail
