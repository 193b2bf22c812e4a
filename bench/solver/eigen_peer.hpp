// Eigen, compiled apart with -O3 -march=native: its best.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <basal/solver/csr_matrix.hpp>

namespace basal::bench {

// One matrix in the layouts in which Eigen is fastest: by rows for products and for conjugate
// gradients on both triangles, by columns for conjugate gradients on the lower triangle.
class eigen_peer {
public:
  explicit eigen_peer(const solver::csr_matrix<double>& a);
  ~eigen_peer();

  void multiply(std::span<const double> x, std::span<double> y) const;

  struct solution {
    std::vector<double> x;
    std::int64_t iterations;
  };

  enum class variant {
    cg_rows,    // ConjugateGradient<RowMajor, Lower | Upper>, diagonal preconditioner
    cg_columns, // ConjugateGradient<ColMajor, Lower>, diagonal preconditioner
    ic_natural, // IncompleteCholesky without reordering
    ic_amd      // IncompleteCholesky with its default ordering
  };

  // With the analysis and the factor made beforehand.
  solution solve(variant v, std::span<const double> b, double tolerance) const;

private:
  struct data;
  std::unique_ptr<data> data_;
};

} // namespace basal::bench
