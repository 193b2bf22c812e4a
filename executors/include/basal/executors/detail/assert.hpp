#pragma once

#include <cstdio>
#include <cstdlib>

/// Checks a contract in builds without NDEBUG (presets dev, asan, tsan). In
/// release builds the condition is not evaluated and, unlike an assumption,
/// never becomes a licence for the optimiser.
///
/// `contract` is a literal: the sentence that does not hold if the condition does not. What a
/// program's input can bring about is an error, not a broken contract.
#ifdef NDEBUG
#  define BASAL_ASSERT(condition, contract) static_cast<void>(0)
#else
#  define BASAL_ASSERT(condition, contract)                                                        \
    ((condition)                                                                                   \
       ? static_cast<void>(0)                                                                      \
       : ::basal::detail::assertion_failed(contract ": " #condition, __FILE__, __LINE__))
#endif

namespace basal::detail {

[[noreturn, gnu::cold]] inline void assertion_failed(const char* contract, const char* file,
                                                     int line) {
  std::fprintf(stderr, "basal: broken contract: %s (%s:%d)\n", contract, file, line);
  std::abort();
}

} // namespace basal::detail
