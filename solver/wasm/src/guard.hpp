// The frame of every exported function of this module: exceptions end here.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#define BASAL_EXPORT(NAME) extern "C" __attribute__((export_name(#NAME), used))

namespace basal::solver::wasm {

// Keep the last failed call's error, which the host reads after a failure value was returned.
void keep_failure(std::string_view code, std::string_view sentence) noexcept;
void keep_current_exception() noexcept;

// f(), or `failure` when it throws.
template <class Result, class F>
Result guarded(Result failure, F f) noexcept {
  try {
    return f();
  } catch (...) {
    keep_current_exception();
    return failure;
  }
}

} // namespace basal::solver::wasm
