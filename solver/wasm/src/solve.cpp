// One solve, some steps at a time, so that a page stays alive and a caller may change its mind.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "guard.hpp"
#include "matrix.hpp"
#include "options.hpp"
#include "paced_solve.hpp"
#include "result.hpp"

namespace basal::solver::wasm {

namespace {

class solving {
public:
  solving(const solve_plan<double>& plan, std::vector<double> b, bool with_history)
    : b_(std::move(b)), all_(plan, b_), with_history_(with_history) {
  }

  bool advance(std::uint64_t steps) {
    if (!with_history_)
      return all_.advance(steps);
    for (; steps > 0; --steps) {
      const auto before = all_.iterations();
      const bool more = all_.advance(1);
      if (all_.iterations() != before)
        history_.push_back(all_.residual());
      if (!more)
        return false;
    }
    return true;
  }

  detail::paced_solve<double>& all() noexcept {
    return all_;
  }

  const std::vector<double>& history() const noexcept {
    return history_;
  }

private:
  std::vector<double> b_; // read until the end
  detail::paced_solve<double> all_;
  std::vector<double> history_; // the residual after each step
  bool with_history_;
};

} // namespace

// Takes a copy of b.
BASAL_EXPORT(solving_new)
solving* solving_new(held_matrix* m, const options* o, const double* b, std::size_t size,
                     int with_history) {
  return guarded<solving*>(nullptr, [&] {
    const auto& plan = m->plan(o->solving);
    return new solving{plan, std::vector<double>(b, b + size), with_history != 0};
  });
}

BASAL_EXPORT(solving_delete) void solving_delete(solving* s) {
  delete s;
}

// 1: there is more to do; 0: done; -1: failed.
BASAL_EXPORT(solving_advance) int solving_advance(solving* s, double steps) {
  return guarded(-1, [&] { return s->advance(static_cast<std::uint64_t>(steps)) ? 1 : 0; });
}

BASAL_EXPORT(solving_residual) double solving_residual(const solving* s) {
  return const_cast<solving*>(s)->all().residual();
}

BASAL_EXPORT(solving_iterations) double solving_iterations(const solving* s) {
  return static_cast<double>(const_cast<solving*>(s)->all().iterations());
}

BASAL_EXPORT(solving_history) const std::vector<double>* solving_history(const solving* s) {
  return &s->history();
}

// Once, when solving_advance has returned 0.
BASAL_EXPORT(solving_take) result* solving_take(solving* s) {
  return guarded<result*>(nullptr, [&] { return new result{s->all().take()}; });
}

BASAL_EXPORT(result_delete) void result_delete(result* r) {
  delete r;
}

BASAL_EXPORT(result_x) const std::vector<double>* result_x(const result* r) {
  return &r->x;
}

BASAL_EXPORT(result_state) int result_state(const result* r) {
  return static_cast<int>(r->state);
}

BASAL_EXPORT(result_iterations) double result_iterations(const result* r) {
  return static_cast<double>(r->iterations);
}

BASAL_EXPORT(result_residual) double result_residual(const result* r) {
  return r->residual;
}

BASAL_EXPORT(result_half_width) double result_half_width(const result* r) {
  return r->half_width;
}

BASAL_EXPORT(result_method) int result_method(const result* r) {
  return static_cast<int>(r->chosen);
}

BASAL_EXPORT(result_preconditioner) int result_preconditioner(const result* r) {
  return static_cast<int>(r->preconditioner);
}

BASAL_EXPORT(result_why) const char* result_why(const result* r) {
  return r->why.c_str();
}

} // namespace basal::solver::wasm
