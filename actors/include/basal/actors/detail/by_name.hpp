#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace basal::actors::detail {

/// One record for each name of actors, with a member `name`; in bounded memory. Any thread; a
/// mutex.
template <class Record>
class by_name {
public:
  /// Further names are counted together.
  static constexpr std::size_t max_names = 1000;
  static constexpr const char* other_names = "(others)";

  /// Calls `change(record)` with that name's record; not at all when memory is short.
  template <class Change>
  void change(std::string_view name, Change change) noexcept {
    try {
      std::lock_guard guard{mutex_};
      auto found = records_.find(name);
      if (found == records_.end()) {
        if (records_.size() >= max_names)
          name = other_names;
        found = records_.try_emplace(std::string{name}).first;
        found->second.name = name;
      }
      change(found->second);
    } catch (const std::bad_alloc&) {
      // not counted
    }
  }

  /// By name.
  std::vector<Record> snapshot() const {
    std::lock_guard guard{mutex_};
    std::vector<Record> result;
    for (const auto& [name, record] : records_)
      result.push_back(record);
    return result;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, Record, std::less<>> records_; ///< guarded by mutex_
};

} // namespace basal::actors::detail
