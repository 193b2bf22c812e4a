#pragma once

#include <caf/config.hpp>

#include <string>

namespace basal::observer {

inline constexpr const char* version = BASAL_VERSION; ///< of the CMake project
extern const char* const commit;                      ///< first 12 digits, or "unknown"
inline constexpr const char* compiler = __VERSION__;

inline std::string caf_version() {
  return std::to_string(CAF_VERSION / 10000) + '.' + std::to_string(CAF_VERSION / 100 % 100) + '.'
         + std::to_string(CAF_VERSION % 100);
}

} // namespace basal::observer
