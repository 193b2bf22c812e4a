#pragma once

#include <libgccjit.h>

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "machine.hpp"
#include "syntax.hpp"

namespace tiered {

/// The signature of native code for callers from outside.
using native_entry
  = void(machine_registers* m, std::int64_t stack_left, const value* arguments, value* result);

/// Every place in native code where something can go wrong. They stay where they are: the code
/// holds their addresses.
using fault_sites = std::deque<failure>;

/// Translates functions for libgccjit. Declare all functions, then define them, then the entry.
///
/// A function becomes `T f(machine_registers* m, long long stack_left, ...)`. Integers are checked
/// with GCC's overflow built-ins. At a fault the machine is told and the function returns; callers
/// look whether their callee has failed. There is nothing to unwind.
class native_builder {
public:
  static constexpr const char* entry_name = "tiered_entry";

  /// All of the arguments outlive the builder.
  native_builder(gcc_jit_context& context, const program& p, fault_sites& sites);

  void declare(std::uint32_t function);
  void define(std::uint32_t function);
  void define_entry(std::uint32_t function);

private:
  friend class native_body;

  gcc_jit_type* native(type t) const noexcept {
    return t == type::integer ? integer_ : real_;
  }

  gcc_jit_rvalue* constant(std::int64_t i) const {
    return gcc_jit_context_new_rvalue_from_long(&context_, integer_, i);
  }

  /// A constant pointer to a place where `f` may happen.
  gcc_jit_rvalue* site(fault f, position where);

  gcc_jit_context& context_;
  const program& program_;
  fault_sites& sites_;
  gcc_jit_type* integer_;
  gcc_jit_type* unsigned_;
  gcc_jit_type* real_;
  gcc_jit_type* pointer_;
  gcc_jit_type* machine_pointer_;
  gcc_jit_field* calls_left_;
  gcc_jit_field* failed_;
  gcc_jit_rvalue* look_up_; ///< functions of ours
  gcc_jit_rvalue* fail_;
  std::unordered_map<std::uint32_t, gcc_jit_function*> functions_;
};

} // namespace tiered
