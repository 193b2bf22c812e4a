#pragma once

#include <cstddef>

// Annotations of fiber switches for AddressSanitizer and ThreadSanitizer. Debian's Boost.Context is
// built without them; we call its raw switch and annotate it here.

#if defined(__SANITIZE_ADDRESS__)
#  define BASAL_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define BASAL_ASAN 1
#  endif
#endif

#if defined(__SANITIZE_THREAD__)
#  define BASAL_TSAN 1
#elif defined(__has_feature)
#  if __has_feature(thread_sanitizer)
#    define BASAL_TSAN 1
#  endif
#endif

#ifdef BASAL_ASAN
#  include <sanitizer/asan_interface.h>
#  include <sanitizer/common_interface_defs.h>
#endif
#ifdef BASAL_TSAN
#  include <sanitizer/tsan_interface.h>
#endif

namespace basal::executors::sanitizer {

inline void* current_tsan_fiber() noexcept {
#ifdef BASAL_TSAN
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}

inline void* create_tsan_fiber() noexcept {
#ifdef BASAL_TSAN
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

inline void destroy_tsan_fiber([[maybe_unused]] void* f) noexcept {
#ifdef BASAL_TSAN
  __tsan_destroy_fiber(f);
#endif
}

/// The stack may be reused for other frames: drop what ASan knows of the old.
inline void forget_stack([[maybe_unused]] void* base, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef BASAL_ASAN
  __asan_unpoison_memory_region(base, bytes);
#endif
}

inline void before_switch([[maybe_unused]] void** save_fake_stack,
                          [[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t size,
                          [[maybe_unused]] void* tsan_fiber) noexcept {
#ifdef BASAL_ASAN
  __sanitizer_start_switch_fiber(save_fake_stack, bottom, size);
#endif
#ifdef BASAL_TSAN
  // Flag 0: the switch is a synchronisation of the two fibers, as it is.
  __tsan_switch_to_fiber(tsan_fiber, 0);
#endif
}

inline void after_switch([[maybe_unused]] void* fake_stack,
                         [[maybe_unused]] const void** old_bottom,
                         [[maybe_unused]] std::size_t* old_size) noexcept {
#ifdef BASAL_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_size);
#endif
}

} // namespace basal::executors::sanitizer
