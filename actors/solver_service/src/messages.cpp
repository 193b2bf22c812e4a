#include <basal/solver_service/messages.hpp>

#include <caf/actor_system_config.hpp>
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

namespace basal::actors {

namespace {

std::string render_error(std::uint8_t code, caf::atom_value, const caf::message& context) {
  std::string text{to_string(static_cast<solver::errc>(code))};
  if (context.match_elements<std::string>())
    text += ": " + context.get_as<std::string>(0);
  return text;
}

} // namespace

void add_solver_messages(caf::actor_system_config& config) {
  config.add_message_type<solve_message>("basal::actors::solve_message");
  config.add_message_type<batch_message>("basal::actors::batch_message");
  config.add_message_type<solve_reply>("basal::actors::solve_reply");
  config.add_message_type<batch_reply>("basal::actors::batch_reply");
  config.add_message_type<events_message>("basal::actors::events_message");
  config.add_message_type<solver::solver_stats>("basal::solver::solver_stats");
  config.add_error_category(solver::errc_category, render_error);
}

namespace detail {

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

} // namespace detail

} // namespace basal::actors
