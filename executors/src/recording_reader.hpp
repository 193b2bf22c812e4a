#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "recording_file.hpp"

namespace basal::executors::recording_file {

/// The records of one thread, oldest first.
struct timeline {
  std::string thread;
  std::int32_t thread_id = 0;

  struct entry {
    std::uint64_t number; ///< of the record: what is missing was overwritten
    std::uint64_t time;   ///< CLOCK_BOOTTIME in ns; never less than the entry before it
    record_kind kind;
    std::uint64_t subject;
    std::uint16_t name;
  };
  std::vector<entry> entries;
};

/// A recording in memory.
struct contents {
  header about;
  std::map<std::uint16_t, std::string> names; ///< demangled
  std::vector<timeline> threads;
  std::string remarks; ///< sentences, one a line

  std::string name(std::uint16_t number) const {
    const auto found = names.find(number);
    return found != names.end() ? found->second : std::string{};
  }
};

/// @throws std::runtime_error see to_perfetto()
contents read(std::span<const std::byte> file);

} // namespace basal::executors::recording_file
