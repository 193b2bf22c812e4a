#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <basal/executors/detail/collector.hpp>

namespace basal::posse::detail {

/// A base for what begins with a cache line and is allocated often: an aligned allocation of the C
/// library takes four times as long as one that is not, 54 ns instead of 13.
class cheaply_aligned : public executors::visible_to_collector {
public:
  static void* operator new(std::size_t bytes, std::align_val_t alignment,
                            const std::nothrow_t& nothrow) noexcept {
    const auto unit = static_cast<std::size_t>(alignment);
    void* const memory = visible_to_collector::operator new(bytes + unit + sizeof(void*), nothrow);
    if (memory == nullptr)
      return nullptr;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory) + sizeof(void*);
    auto* const aligned = reinterpret_cast<void**>((begin + unit - 1) & ~(unit - 1));
    aligned[-1] = memory;
    return aligned;
  }

  static void operator delete(void* object, std::align_val_t) noexcept {
    visible_to_collector::operator delete(static_cast<void**>(object)[-1]);
  }

  static void operator delete(void* object, std::align_val_t, const std::nothrow_t&) noexcept {
    visible_to_collector::operator delete(static_cast<void**>(object)[-1]);
  }
};

} // namespace basal::posse::detail
