#include "guard.hpp"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>

#include <malloc.h>

#include <basal/solver/detail/aligned_array.hpp>
#include <basal/solver/errors.hpp>
#include <basal/solver/solve_options.hpp>
#include <basal/solver/solve_result.hpp>

namespace basal::solver::wasm {

namespace {

// Fixed room: a failure for want of memory must be told without any.
struct failure {
  char code[32];
  char sentence[512];
} last{};

template <std::size_t Size>
void copy(char (&to)[Size], std::string_view from) noexcept {
  const auto size = from.size() < Size ? from.size() : Size - 1;
  from.copy(to, size);
  to[size] = '\0';
}

constexpr std::string_view no_memory
  = "the memory of this instance does not suffice, or would exceed the 4 GiB that WebAssembly "
    "addresses";

} // namespace

void keep_failure(std::string_view code, std::string_view sentence) noexcept {
  copy(last.code, code);
  copy(last.sentence, sentence);
}

void keep_current_exception() noexcept {
  try {
    throw;
  } catch (const error& e) {
    keep_failure(to_string(e.code()), e.what());
  } catch (const std::bad_alloc&) {
    keep_failure("out_of_memory", no_memory);
  } catch (const std::length_error&) { // a vector of more than 4 GiB
    keep_failure("out_of_memory", no_memory);
  } catch (const std::exception& e) {
    keep_failure("internal", e.what());
  } catch (...) {
    keep_failure("internal", "an exception of unknown kind");
  }
}

// Names of the closed sets, so that the host has no copies of them.
BASAL_EXPORT(method_name) const char* method_name(int i) {
  const auto all = all_methods();
  return i >= 0 && static_cast<std::size_t>(i) < all.size() ? to_string(all[i]).data() : nullptr;
}

BASAL_EXPORT(state_name) const char* state_name(int i) {
  return to_string(static_cast<state>(i)).data();
}

BASAL_EXPORT(preconditioner_name) const char* preconditioner_name(int i) {
  return to_string(static_cast<preconditioning>(i)).data();
}

BASAL_EXPORT(failure_code) const char* failure_code() {
  return last.code;
}

BASAL_EXPORT(failure_sentence) const char* failure_sentence() {
  return last.sentence;
}

// For what the host writes into this memory; null when there is none left.
BASAL_EXPORT(allocate) void* allocate(std::size_t bytes) {
  return guarded<void*>(nullptr, [&] { return detail::allocate_aligned(bytes == 0 ? 1 : bytes); });
}

BASAL_EXPORT(release) void release(void* memory) {
  detail::free_aligned(memory);
}

// Bytes that are allocated now.
BASAL_EXPORT(bytes_in_use) double bytes_in_use() {
  return static_cast<double>(static_cast<std::size_t>(mallinfo().uordblks));
}

} // namespace basal::solver::wasm
