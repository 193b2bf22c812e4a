#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <basal/mab/family.hpp>
#include <basal/mab/function_key.hpp>

namespace basal::mab {

/// The families of a runtime by key. Any thread; takes a lock, so look a family
/// up once per actor, not once per message.
class family_table {
public:
  /// @param executors of the runtime, for family::newcomers_on(); may be 0
  explicit family_table(std::size_t executors = 0) noexcept : executors_(executors) {
  }

  family_table(const family_table&) = delete;
  family_table& operator=(const family_table&) = delete;

  /// The family of `key`; null if there is none yet. Spares who looks for one the making of a name.
  family* find(function_key key) const;

  /// The family of `key`, made with `name` and `k` when there is none yet; an
  /// existing one keeps its own. The reference is valid as long as the table.
  /// @throws std::invalid_argument when `k` would be used and is not valid.
  family& get(function_key key, std::string_view name, const knobs& k);

  /// In the order of creation.
  std::vector<family_snapshot> snapshot() const;

private:
  const std::size_t executors_;
  mutable std::mutex mutex_;
  std::unordered_map<function_key, family*> by_key_;
  std::vector<std::unique_ptr<family>> families_;
};

} // namespace basal::mab
