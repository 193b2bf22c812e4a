#include <basal/actors/solver_service_messages.hpp>

#include <caf/message.hpp>

namespace basal::solver {

caf::error make_error(errc code) {
  return {static_cast<std::uint8_t>(code), errc_category};
}

caf::error make_error(const error& e) {
  return {static_cast<std::uint8_t>(e.code()), errc_category,
          caf::make_message(std::string{e.what()})};
}

} // namespace basal::solver

namespace basal::actors::detail {

matrix_parts::matrix_parts(const shared_matrix& from) : present(from.matrix != nullptr) {
  if (!present)
    return;
  auto copy = [](auto span) { return std::vector(span.begin(), span.end()); };
  rows = from.matrix->rows();
  columns = from.matrix->columns();
  row_starts = copy(from.matrix->row_starts());
  column_indices = copy(from.matrix->column_indices());
  values = copy(from.matrix->values());
}

caf::error matrix_parts::assemble(shared_matrix& into) {
  into.matrix = nullptr;
  if (!present)
    return caf::none;
  try {
    into.matrix = std::make_shared<const solver::csr_matrix<double>>(
      rows, columns, std::move(row_starts), std::move(column_indices), std::move(values.values));
  } catch (const solver::error& e) {
    return solver::make_error(e);
  }
  return caf::none;
}

std::string to_string(const matrix_parts& parts) {
  if (!parts.present)
    return "no matrix";
  return std::to_string(parts.rows) + " x " + std::to_string(parts.columns) + " matrix with "
         + std::to_string(parts.column_indices.size()) + " entries";
}

} // namespace basal::actors::detail
