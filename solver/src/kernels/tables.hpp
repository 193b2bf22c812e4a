// The kernels of one instruction set, one table per type and order of summation. A call is
// dispatched once, to a table; Highway chooses it at run time.
#pragma once

#include <cstddef>
#include <type_traits>

#include <basal/solver/csr_matrix.hpp>
#include <basal/solver/detail/kernels/triangular.hpp>
#include <basal/solver/detail/kernels/vector.hpp>
#include <basal/solver/detail/packed_rows.hpp>

namespace basal::solver::kernels {

template <class T>
struct vector_table {
  double (*dot)(const T* x, const T* y, std::size_t);
  void (*axpy)(T a, const T* x, T* y, std::size_t);
  void (*scale)(const T* d, const T* r, T* z, std::size_t);
  two_sums (*cg_residual)(T alpha, const T* q, const T* d, T* r, std::size_t);
  void (*cg_direction)(T alpha, T beta, const T* d, const T* r, T* p, T* x, std::size_t);
  void (*bicgstab_direction)(T beta, T omega, const T* r, const T* v, T* p, std::size_t);
  two_sums (*bicgstab_omega)(const T* t, const T* s, std::size_t);
  two_sums (*bicgstab_update)(T alpha, T omega, const T* p, const T* s, const T* t, const T* shadow,
                              T* r, T* x, std::size_t);
};

template <class T>
struct product_table {
  using matrix = csr_matrix<T>;
  void (*multiply)(const matrix&, const T* x, T* y);
  double (*multiply_dot)(const matrix&, const T* x, T* y);
  double (*residual)(const matrix&, const T* x, const T* b, T* r);
  double (*neumann_term)(const matrix&, const T* t, const T* d, T* x, T* r, T* next);
  void (*multiply_block)(const matrix&, std::size_t width, const T* x, T* y);
};

template <class T>
struct triangular_table {
  void (*lower)(const triangle<T>&, const T* r, T* z);
  void (*upper)(const triangle<T>&, T* z);
};

// `size` counts all entries, rows times width.
template <class T>
struct block_table {
  void (*dot)(std::size_t width, std::size_t size, const T* x, const T* y, T* sums);
  void (*scale)(std::size_t width, std::size_t size, const T* c, const T* d, const T* r, T* z);
  void (*residual)(std::size_t width, std::size_t size, const T* b, const T* product, T* r,
                   T* sums);
  void (*neumann)(std::size_t width, std::size_t size, const T* c, const T* product, const T* d,
                  T* t, T* x, T* r, T* sums);
  void (*cg_residual)(std::size_t width, std::size_t size, const T* alpha, const T* q, const T* d,
                      T* r, T* squares, T* scaled);
  void (*cg_direction)(std::size_t width, std::size_t size, const T* alpha, const T* beta,
                       const T* d, const T* r, T* p, T* x);
};

} // namespace basal::solver::kernels

// Macros, because the names that Highway exports and looks up are made by its own.

// Once per instruction set: the functions to export, from NAME_kernels<bool Fused, T>.
#define BASAL_KERNEL_TABLES(NAME)                                                                  \
  const NAME##_table<float>* NAME##_f32(summation order) {                                         \
    return order == summation::native ? &NAME##_kernels<true, float>                               \
                                      : &NAME##_kernels<false, float>;                             \
  }                                                                                                \
  const NAME##_table<double>* NAME##_f64(summation order) {                                        \
    return order == summation::native ? &NAME##_kernels<true, double>                              \
                                      : &NAME##_kernels<false, double>;                            \
  }

// Once: best<T>(order), the table for the CPU that this runs on.
#define BASAL_BEST_KERNELS(NAME)                                                                   \
  HWY_EXPORT(NAME##_f32);                                                                          \
  HWY_EXPORT(NAME##_f64);                                                                          \
  template <class T>                                                                               \
  const NAME##_table<T>& best(summation order) {                                                   \
    if constexpr (std::is_same_v<T, float>)                                                        \
      return *HWY_DYNAMIC_DISPATCH(NAME##_f32)(order);                                             \
    else                                                                                           \
      return *HWY_DYNAMIC_DISPATCH(NAME##_f64)(order);                                             \
  }
