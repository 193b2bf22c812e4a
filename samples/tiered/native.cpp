#include "native.hpp"

#include <libgccjit.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "native_builder.hpp"
#include "reachable.hpp"

namespace tiered {

namespace {

struct release_result {
  void operator()(gcc_jit_result* r) const noexcept {
    gcc_jit_result_release(r);
  }
};
using result_ptr = std::unique_ptr<gcc_jit_result, release_result>;

struct release_context {
  void operator()(gcc_jit_context* c) const noexcept {
    gcc_jit_context_release(c);
  }
};
using context_ptr = std::unique_ptr<gcc_jit_context, release_context>;

class native final : public code {
public:
  native(result_ptr library, native_entry* entry, std::unique_ptr<fault_sites> sites)
    : sites_(std::move(sites)), library_(std::move(library)), entry_(entry) {
  }

  value run(machine& m, std::int64_t stack_left, std::span<const value> arguments) const override {
    value result{};
    entry_(&m, stack_left, arguments.data(), &result);
    return result;
  }

private:
  std::unique_ptr<fault_sites> sites_; // the code refers to them
  result_ptr library_;
  native_entry* entry_;
};

[[noreturn]] void fail(const char* doing, gcc_jit_context* context) {
  const char* why = context == nullptr ? nullptr : gcc_jit_context_get_last_error(context);
  throw std::runtime_error(std::string("libgccjit cannot ") + doing + ": "
                           + (why == nullptr ? "no reason given; is the assembler (Debian: "
                                               "binutils) installed and $TMPDIR writable?"
                                             : why));
}

} // namespace

std::unique_ptr<const code> make_native(const program& p, std::uint32_t function) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);

  const context_ptr context(gcc_jit_context_acquire());
  if (!context)
    fail("start", nullptr);
  gcc_jit_context_set_int_option(context.get(), GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, 2);
  // A function that has no faults does not use the blocks in which they end.
  gcc_jit_context_set_bool_allow_unreachable_blocks(context.get(), 1);
  for (const char* option : {
         "-ffp-contract=off",    // a * b + c rounds twice, as in the other tiers
         "-fno-math-errno",      // sqrt is one instruction
         "-fno-strict-aliasing", // values are integers or doubles
         // GCC 12 crashes within some 100 compilations in one process when modref runs together
         // with cp or sra: it does not forget what they knew of functions that are gone. With all
         // three off, 600 went well.
         "-fno-ipa-cp",
         "-fno-ipa-sra",
         "-fno-ipa-modref",
       })
    gcc_jit_context_add_command_line_option(context.get(), option);

  auto sites = std::make_unique<fault_sites>();
  native_builder builder(*context, p, *sites);
  for (const std::uint32_t i : reachable(p, function))
    builder.declare(i);
  for (const std::uint32_t i : reachable(p, function))
    builder.define(i);
  builder.define_entry(function);

  result_ptr library(gcc_jit_context_compile(context.get()));
  if (!library)
    fail("compile", context.get());
  void* entry = gcc_jit_result_get_code(library.get(), native_builder::entry_name);
  if (entry == nullptr)
    fail("load the code", context.get());
  return std::make_unique<native>(std::move(library), reinterpret_cast<native_entry*>(entry),
                                  std::move(sites));
}

} // namespace tiered
