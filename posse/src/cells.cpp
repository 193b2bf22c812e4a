#include <basal/posse/detail/cells.hpp>

#include <new>

namespace basal::posse::detail {

executor_cells::~executor_cells() {
  for (auto& f : functions_)
    if (auto* cells = f.load(std::memory_order_relaxed); cells != &others_)
      delete cells;
}

function_cells& executor_cells::add(std::uint32_t number) noexcept {
  auto* cells = number != 0 ? new (std::nothrow) function_cells : nullptr;
  if (cells == nullptr)
    cells = &others_;
  functions_[number].store(cells, std::memory_order_release);
  return *cells;
}

} // namespace basal::posse::detail
