#include <basal/mab/family_table.hpp>

#include <string>

namespace basal::mab {

family* family_table::find(function_key key) const {
  const std::lock_guard guard{mutex_};
  const auto found = by_key_.find(key);
  return found != by_key_.end() ? found->second : nullptr;
}

family& family_table::get(function_key key, std::string_view name, const knobs& k) {
  const std::lock_guard guard{mutex_};
  if (const auto found = by_key_.find(key); found != by_key_.end())
    return *found->second;
  auto& made = *families_.emplace_back(std::make_unique<family>(std::string{name}, k, executors_));
  by_key_.emplace(key, &made);
  return made;
}

std::vector<family_snapshot> family_table::snapshot() const {
  const std::lock_guard guard{mutex_};
  std::vector<family_snapshot> result;
  result.reserve(families_.size());
  for (const auto& x : families_)
    result.push_back(x->snapshot());
  return result;
}

} // namespace basal::mab
