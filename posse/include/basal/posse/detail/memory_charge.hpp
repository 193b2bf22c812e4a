#pragma once

#include <cstddef>
#include <utility>

#include <basal/posse/fwd.hpp>

namespace basal::posse {

/// Memory that counts towards a computation's limit until this is gone. It
/// remembers on which executor it was counted: a branch may charge what it
/// returns, and whoever gets that, stolen or not, gives it back. Must end before
/// the computation does. Moves; not thread-safe.
class [[nodiscard]] memory_charge {
public:
  memory_charge() = default;

  memory_charge(memory_charge&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {
  }

  memory_charge& operator=(memory_charge&& other) noexcept {
    memory_charge old{std::move(*this)};
    context_ = std::exchange(other.context_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  ~memory_charge() {
    if (context_ != nullptr)
      give_back();
  }

  std::size_t bytes() const noexcept {
    return bytes_;
  }

private:
  friend class member;

  memory_charge(detail::memory_context& context, std::size_t bytes) noexcept
    : context_(&context), bytes_(bytes) {
  }

  void give_back() noexcept;

  detail::memory_context* context_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace basal::posse
