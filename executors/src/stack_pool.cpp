#include <basal/executors/stack_pool.hpp>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace basal::executors {

namespace {

std::size_t page_bytes() {
  static const auto result = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return result;
}

std::size_t checked(std::size_t stack_bytes) {
  if (stack_bytes < stack_pool::min_stack_bytes || stack_bytes > stack_pool::max_stack_bytes)
    throw std::invalid_argument("basal: a fiber's stack of " + std::to_string(stack_bytes)
                                + " bytes is not possible; it has between "
                                + std::to_string(stack_pool::min_stack_bytes) + " and "
                                + std::to_string(stack_pool::max_stack_bytes));
  auto page = page_bytes();
  return (stack_bytes + page - 1) / page * page;
}

} // namespace

stack_pool::stack_pool(std::size_t stack_bytes) : stack_bytes_(checked(stack_bytes)) {
}

stack_pool::~stack_pool() {
  for (auto& s : free_)
    munmap(s.base - guard_bytes, s.bytes + guard_bytes);
}

stack stack_pool::acquire() {
  {
    std::lock_guard guard{mutex_};
    if (!free_.empty()) {
      auto s = free_.back();
      free_.pop_back();
      return s;
    }
    // Room to take the stack back later, so that release() cannot fail.
    free_.reserve(mapped_ + 1);
    ++mapped_;
  }
  auto* memory = mmap(nullptr, stack_bytes_ + guard_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  auto error = errno;
  if (memory != MAP_FAILED && mprotect(memory, guard_bytes, PROT_NONE) != 0) {
    error = errno;
    munmap(memory, stack_bytes_ + guard_bytes);
    memory = MAP_FAILED;
  }
  if (memory == MAP_FAILED) {
    std::lock_guard guard{mutex_};
    --mapped_;
    throw std::system_error(
      error, std::generic_category(),
      "basal: no memory for a fiber's stack of " + std::to_string(stack_bytes_) + " bytes after "
        + std::to_string(mapped_)
        + " others; let fewer computations wait at once, make stacks smaller, "
          "or raise vm.max_map_count");
  }
  return {static_cast<std::byte*>(memory) + guard_bytes, stack_bytes_};
}

void stack_pool::release(stack s) noexcept {
  std::lock_guard guard{mutex_};
  free_.push_back(s); // within the capacity reserved by acquire()
}

std::size_t stack_pool::mapped() const noexcept {
  std::lock_guard guard{mutex_};
  return mapped_;
}

} // namespace basal::executors
