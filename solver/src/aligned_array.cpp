#include <basal/solver/detail/aligned_array.hpp>

#include <cstdlib>

#if defined(__linux__)
#  include <sys/mman.h>
#endif

namespace basal::solver::detail {

namespace {

#if defined(__linux__)
constexpr std::size_t huge_page = std::size_t{2} << 20;

void wish_for_huge_pages(void* memory, std::size_t bytes) {
  ::madvise(memory, bytes, MADV_HUGEPAGE); // failing is harmless
}
#else // WebAssembly has pages of one size
constexpr std::size_t huge_page = alignment;

void wish_for_huge_pages(void*, std::size_t) {
}
#endif

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  if (bytes > static_cast<std::size_t>(-1) - unit)
    throw std::bad_alloc{};
  return (bytes + unit - 1) / unit * unit;
}

} // namespace

void* allocate_aligned(std::size_t bytes) {
  const bool big = bytes >= 2 * huge_page;
  const auto unit = big ? huge_page : alignment;
  void* memory = std::aligned_alloc(unit, rounded_up(bytes, unit));
  if (memory == nullptr)
    throw std::bad_alloc{};
  if (big)
    wish_for_huge_pages(memory, rounded_up(bytes, unit));
  return memory;
}

void free_aligned(void* memory) noexcept {
  std::free(memory);
}

} // namespace basal::solver::detail
