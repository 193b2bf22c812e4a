#include <basal/executors/detail/carrier.hpp>

#include <basal/executors/detail/assert.hpp>

namespace basal::executors {

void carriers::add(const carrier& kind) noexcept {
  BASAL_ASSERT(kind.capture != nullptr && kind.enter != nullptr && kind.leave != nullptr,
               "a carrier captures, enters and leaves");
  const auto count = count_.load(std::memory_order_relaxed);
  if (count == most)
    basal::detail::assertion_failed("there are at most carriers::most kinds", __FILE__, __LINE__);
  table_[count] = &kind;
  count_.store(count + 1, std::memory_order_release);
}

carried::carried(errand what) noexcept : what_(what) {
  if (what == errand::awaited) {
    account = delegated_time::current_account();
    in_sequence = sequential_scope::active();
  }
  if (const auto count = carriers::count(); count != 0) [[unlikely]] {
    count_ = static_cast<std::uint8_t>(count);
    capture_all();
  }
}

void carried::capture_all() noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    values_[i] = carriers::at(i).capture(what_);
}

void carried::replace(const carrier& kind, void* value) noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (&carriers::at(i) == &kind)
      values_[i] = value;
}

void carried::drop_all() noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if (const auto& kind = carriers::at(i); values_[i] != nullptr && kind.drop != nullptr)
      kind.drop(values_[i], what_);
  count_ = 0;
}

void carrying::enter_all() noexcept {
  for (std::size_t i = 0; i < what_.count_; ++i)
    carriers::at(i).enter(what_.values_[i], self_, rooms_[i]);
}

void carrying::leave_all() noexcept {
  for (std::size_t i = what_.count_; i-- > 0;)
    carriers::at(i).leave(self_, rooms_[i]);
}

} // namespace basal::executors
