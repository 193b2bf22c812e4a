#include <basal/posse/effects.hpp>

#include <cstdlib>
#include <string>

#include <basal/executors/executor.hpp>
#include <basal/executors/report.hpp>

namespace basal::posse {

const char* running_pure_function() noexcept {
  auto* self = executors::executor::current();
  // A member, and nothing else, makes its executor attentive; suspending takes
  // that away for as long as something else runs.
  if (self == nullptr || !self->attentive().load(std::memory_order_relaxed))
    return nullptr;
  auto* name = self->running().name_work(nullptr);
  self->running().name_work(name);
  return name != nullptr ? name : "a computation";
}

void refuse_effect(const char* what) noexcept {
  if (auto* name = running_pure_function()) {
    executors::report(executors::report_level::critical, "basal.posse",
                      std::string{"the pure function "} + name + " " + what
                        + "; it may be stolen, so effects belong into the handler that calls it: "
                          "return what it needs for them");
    std::abort();
  }
}

} // namespace basal::posse
