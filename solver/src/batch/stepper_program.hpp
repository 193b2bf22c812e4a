#pragma once

#include <basal/solver/solve_plan.hpp>
#include <basal/solver/stepper.hpp>
#include <basal/solver/tick_scheduler.hpp>

#include "method/facts.hpp"

namespace basal::solver {

/// A stepper, or block_stepper, as a program of the tick scheduler: each step is a task,
/// which posts the next one. The stepper says itself when it is done.
template <class Stepper>
class stepper_program {
public:
  stepper_program(Stepper& stepper, method m) noexcept
    : stepper_(stepper), kind_(detail::facts_of(m).walks ? task_kind::walk : task_kind::term) {
  }

  void seed(task_queue& queue) noexcept {
    queue.post(kind_);
  }

  task_report run(task_kind kind, task_queue& queue) noexcept {
    auto report = stepper_.step();
    queue.post(kind);
    return {.residual = report.residual, .state = report.state, .iterated = true};
  }

  /// For run_ticks(): the steppers know their own tolerance.
  static constexpr double no_tolerance = -1;

private:
  Stepper& stepper_;
  task_kind kind_;
};

} // namespace basal::solver
