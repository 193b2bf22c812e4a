#include "matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <basal/solver/matrix_market.hpp>

#include "guard.hpp"

namespace basal::solver::wasm {

namespace {

// Room for a matrix that the host fills in.
struct draft {
  index_type rows;
  index_type columns;
  std::vector<index_type> row_starts;
  std::vector<index_type> column_indices;
  std::vector<double> values;
};

} // namespace

BASAL_EXPORT(draft_new)
draft* draft_new(index_type rows, index_type columns, std::size_t nonzeros) {
  return guarded<draft*>(nullptr, [&] {
    return new draft{rows, columns, std::vector<index_type>(static_cast<std::size_t>(rows) + 1),
                     std::vector<index_type>(nonzeros), std::vector<double>(nonzeros)};
  });
}

BASAL_EXPORT(draft_row_starts) index_type* draft_row_starts(draft* d) {
  return d->row_starts.data();
}

BASAL_EXPORT(draft_columns) index_type* draft_columns(draft* d) {
  return d->column_indices.data();
}

BASAL_EXPORT(draft_values) double* draft_values(draft* d) {
  return d->values.data();
}

// Null if it is no matrix. The draft is gone in either case.
BASAL_EXPORT(matrix_new) held_matrix* matrix_new(draft* d) {
  const std::unique_ptr<draft> owned{d};
  return guarded<held_matrix*>(nullptr, [&] {
    return new held_matrix{{d->rows, d->columns, std::move(d->row_starts),
                            std::move(d->column_indices), std::move(d->values)}};
  });
}

BASAL_EXPORT(matrix_read) held_matrix* matrix_read(const char* text, std::size_t bytes) {
  return guarded<held_matrix*>(nullptr, [&] {
    return new held_matrix{parse_matrix_market<double>({text, bytes})};
  });
}

BASAL_EXPORT(matrix_delete) void matrix_delete(held_matrix* m) {
  delete m;
}

BASAL_EXPORT(matrix_rows) index_type matrix_rows(const held_matrix* m) {
  return m->get().rows();
}

BASAL_EXPORT(matrix_columns) index_type matrix_columns(const held_matrix* m) {
  return m->get().columns();
}

BASAL_EXPORT(matrix_nonzeros) index_type matrix_nonzeros(const held_matrix* m) {
  return m->get().nonzeros();
}

BASAL_EXPORT(matrix_row_starts) const index_type* matrix_row_starts(const held_matrix* m) {
  return m->get().row_starts().data();
}

BASAL_EXPORT(matrix_column_indices) const index_type* matrix_column_indices(const held_matrix* m) {
  return m->get().column_indices().data();
}

BASAL_EXPORT(matrix_values) const double* matrix_values(const held_matrix* m) {
  return m->get().values().data();
}

// A column of numbers from a file: an object with a size and a pointer, as results are.
BASAL_EXPORT(vector_read) std::vector<double>* vector_read(const char* text, std::size_t bytes) {
  return guarded<std::vector<double>*>(nullptr, [&] {
    return new std::vector<double>{parse_matrix_market_vector<double>({text, bytes})};
  });
}

BASAL_EXPORT(vector_delete) void vector_delete(std::vector<double>* v) {
  delete v;
}

BASAL_EXPORT(vector_size) std::size_t vector_size(const std::vector<double>* v) {
  return v->size();
}

BASAL_EXPORT(vector_data) const double* vector_data(const std::vector<double>* v) {
  return v->data();
}

} // namespace basal::solver::wasm
