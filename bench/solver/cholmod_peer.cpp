#include "bench/solver/cholmod_peer.hpp"

#include <suitesparse/cholmod.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace basal::bench {

struct cholmod_peer::data {
  cholmod_common common;
  cholmod_sparse* matrix = nullptr;
  cholmod_factor* factor = nullptr;

  data() {
    cholmod_start(&common);
    common.print = 0;
  }

  data(const data&) = delete;
  data& operator=(const data&) = delete;

  ~data() {
    cholmod_free_factor(&factor, &common);
    cholmod_free_sparse(&matrix, &common);
    cholmod_finish(&common);
  }

  // The caller's vectors, one column after the other.
  static cholmod_dense columns(std::span<const double> values, std::size_t rows) {
    cholmod_dense d{};
    d.nrow = d.d = rows;
    d.ncol = values.size() / rows;
    d.nzmax = values.size();
    d.x = const_cast<double*>(values.data());
    d.xtype = CHOLMOD_REAL;
    d.dtype = CHOLMOD_DOUBLE;
    return d;
  }

  void multiply(double alpha, std::span<const double> x, double beta, std::span<double> y) {
    double a[] = {alpha, 0}, b[] = {beta, 0};
    auto from = columns(x, matrix->nrow), to = columns(y, matrix->ncol);
    // The rows of A were copied as columns, so a general A is stored transposed.
    const int transpose = matrix->stype == 0 ? 1 : 0;
    if (cholmod_sdmult(matrix, transpose, a, b, &from, &to, &common) == 0)
      throw std::runtime_error("cholmod_sdmult failed");
  }
};

cholmod_peer::cholmod_peer(const solver::csr_matrix<double>& a, kind k)
  : data_(std::make_unique<data>()) {
  const auto rows = static_cast<std::size_t>(a.rows());
  const bool half = k == kind::symmetric;
  constexpr int sorted = 1, packed = 1;
  data_->matrix = cholmod_allocate_sparse(static_cast<std::size_t>(a.columns()), rows,
                                          static_cast<std::size_t>(a.nonzeros()), sorted, packed,
                                          half ? 1 : 0, CHOLMOD_REAL, &data_->common);
  if (data_->matrix == nullptr)
    throw std::runtime_error("cholmod_allocate_sparse failed");
  auto* starts = static_cast<int*>(data_->matrix->p);
  auto* places = static_cast<int*>(data_->matrix->i);
  auto* values = static_cast<double*>(data_->matrix->x);
  int count = 0;
  for (solver::index_type r = 0; r < a.rows(); ++r) {
    starts[r] = count;
    const auto columns = a.row_columns(r);
    for (std::size_t j = 0; j < columns.size() && !(half && columns[j] > r); ++j) {
      places[count] = columns[j];
      values[count++] = a.row_values(r)[j];
    }
  }
  starts[a.rows()] = count;
}

cholmod_peer::~cholmod_peer() = default;

void cholmod_peer::multiply(std::span<const double> x, std::span<double> y) {
  data_->multiply(1, x, 0, y);
}

void cholmod_peer::factorise() {
  auto& d = *data_;
  cholmod_free_factor(&d.factor, &d.common);
  d.factor = cholmod_analyze(d.matrix, &d.common);
  if (d.factor == nullptr || cholmod_factorize(d.matrix, d.factor, &d.common) == 0
      || d.common.status != CHOLMOD_OK)
    throw std::runtime_error("CHOLMOD could not factorise the matrix");
}

std::vector<double> cholmod_peer::solve(std::span<const double> b, double tolerance) {
  auto& d = *data_;
  const auto norm = [](std::span<const double> v) {
    double sum = 0;
    for (const double x : v)
      sum += x * x;
    return std::sqrt(sum);
  };
  const double wanted = tolerance * norm(b);
  std::vector<double> x(b.size(), 0.0), r(b.begin(), b.end());
  for (int round = 0; round < 3 && norm(r) > wanted; ++round) {
    auto right = data::columns(r, r.size());
    auto* correction = cholmod_solve(CHOLMOD_A, d.factor, &right, &d.common);
    if (correction == nullptr)
      throw std::runtime_error("cholmod_solve failed");
    const auto* c = static_cast<const double*>(correction->x);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += c[i];
    cholmod_free_dense(&correction, &d.common);
    std::copy(b.begin(), b.end(), r.begin());
    d.multiply(-1, x, 1, r);
  }
  return x;
}

} // namespace basal::bench
