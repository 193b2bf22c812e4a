#include <basal/executors/config.hpp>

#include <stdexcept>
#include <string>

#include <basal/executors/detail/stack_pool.hpp>

namespace basal::executors {

namespace {

[[noreturn]] void reject(const std::string& pool, const char* field, const std::string& value,
                         const std::string& range) {
  throw std::invalid_argument("basal: pool \"" + pool + "\": " + field + " is " + value
                              + "; it must be " + range);
}

} // namespace

void pool_config::validate() const {
  if (name.empty() || name.size() > 11)
    reject(name, "name", '"' + name + '"', "1 to 11 characters long");
  if (executors == 0 || executors > max_executors)
    reject(name, "executors", std::to_string(executors),
           "between 1 and " + std::to_string(max_executors));
  if (quantum < min_quantum || quantum > max_quantum)
    reject(name, "quantum", std::to_string(quantum.count()) + " ns",
           "between " + std::to_string(min_quantum.count()) + " and "
             + std::to_string(max_quantum.count()) + " ns");
  if (steal_after.count() < 0 || steal_after > max_quantum)
    reject(name, "steal_after", std::to_string(steal_after.count()) + " ns",
           "between 0 and " + std::to_string(max_quantum.count()) + " ns");
  if (spin.count() < 0 || spin > max_quantum)
    reject(name, "spin", std::to_string(spin.count()) + " ns",
           "between 0 and " + std::to_string(max_quantum.count()) + " ns");
  if (look_worth.count() < 0 || look_worth > max_quantum)
    reject(name, "look_worth", std::to_string(look_worth.count()) + " ns",
           "between 0 and " + std::to_string(max_quantum.count()) + " ns");
  if (background_after.count() < 0 || background_after > max_background_after)
    reject(name, "background_after", std::to_string(background_after.count()) + " ns",
           "between 0 and " + std::to_string(max_background_after.count()) + " ns");
  if (auto cpus = cpus_for(pin).size(); pin != pinning::none && executors > cpus)
    reject(name, "executors", std::to_string(executors),
           "at most " + std::to_string(cpus)
             + ", the CPUs that this process may use, while executors are pinned to them");
  if (stack_bytes < stack_pool::min_stack_bytes || stack_bytes > stack_pool::max_stack_bytes)
    reject(name, "stack_bytes", std::to_string(stack_bytes),
           "between " + std::to_string(stack_pool::min_stack_bytes) + " and "
             + std::to_string(stack_pool::max_stack_bytes));
}

} // namespace basal::executors
