#pragma once

#include <cstdio>
#include <cstdlib>

/// Checks a contract in builds without NDEBUG (presets dev, asan, tsan). In
/// release builds the condition is not evaluated and, unlike an assumption,
/// never becomes a licence for the optimiser.
#ifdef NDEBUG
#  define BASAL_ASSERT(condition) static_cast<void>(0)
#else
#  define BASAL_ASSERT(condition)                                                                  \
    ((condition) ? static_cast<void>(0)                                                            \
                 : ::basal::detail::assertion_failed(#condition, __FILE__, __LINE__))
#endif

namespace basal::detail {

[[noreturn, gnu::cold]] inline void assertion_failed(const char* condition, const char* file,
                                                     int line) {
  std::fprintf(stderr, "basal: broken contract: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

} // namespace basal::detail
