#include "native_builder.hpp"

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace tiered {

namespace {

// Called by native code.

int look_up(machine_registers* m, const failure* site) noexcept {
  return static_cast<machine*>(m)->look_up(site->where) ? 1 : 0;
}

void stop(machine_registers* m, const failure* site) noexcept {
  static_cast<machine*>(m)->fail(site->what, site->where);
}

// The layout of machine_registers that native_builder declares to libgccjit.
static_assert(offsetof(machine_registers, calls_left) == 0);
static_assert(offsetof(machine_registers, failed) == 8);
static_assert(sizeof(machine_registers::failed) == sizeof(int));
static_assert(sizeof(long) == sizeof(std::int64_t) && sizeof(long long) == sizeof(std::int64_t));

} // namespace

/// The body of one function. Every result is kept in a variable, so that things happen in the order
/// of the tree; GCC removes them.
class native_body {
public:
  native_body(native_builder& b, const function& f, gcc_jit_function* made)
    : b_(b),
      c_(&b.context_),
      function_(f),
      made_(made),
      machine_(gcc_jit_param_as_rvalue(gcc_jit_function_get_param(made, 0))),
      stack_left_(gcc_jit_param_as_rvalue(gcc_jit_function_get_param(made, 1))),
      here_(new_block()),
      leave_(new_block()),
      failed_(new_block()),
      site_(variable(b.pointer_)) {
    for (std::size_t i = 0; i < f.parameters.size(); ++i)
      slots_[static_cast<std::uint32_t>(i)]
        = gcc_jit_param_as_rvalue(gcc_jit_function_get_param(made, static_cast<int>(i) + 2));
  }

  void define() {
    gcc_jit_rvalue* result = rvalue(*function_.body); // which ends blocks, and begins others
    gcc_jit_block_end_with_return(here_, nullptr, result);
    // Faults meet in failed_, which tells the machine; leave_ is for who finds it told.
    gcc_jit_block_add_eval(failed_, nullptr,
                           call_ours(b_.fail_, {machine_, gcc_jit_lvalue_as_rvalue(site_)}));
    gcc_jit_block_end_with_jump(failed_, nullptr, leave_);
    gcc_jit_block_end_with_return(leave_, nullptr,
                                  gcc_jit_context_zero(c_, b_.native(function_.result)));
  }

private:
  gcc_jit_block* new_block() {
    return gcc_jit_function_new_block(made_, nullptr);
  }

  gcc_jit_lvalue* variable(gcc_jit_type* t) {
    return gcc_jit_function_new_local(made_, nullptr, t,
                                      ("v" + std::to_string(variables_++)).c_str());
  }

  /// Computes it here and keeps it.
  gcc_jit_rvalue* kept(gcc_jit_type* t, gcc_jit_rvalue* r) {
    gcc_jit_lvalue* v = variable(t);
    assign(v, r);
    return gcc_jit_lvalue_as_rvalue(v);
  }

  void assign(gcc_jit_lvalue* to, gcc_jit_rvalue* r) {
    gcc_jit_block_add_assignment(here_, nullptr, to, r);
  }

  gcc_jit_rvalue* cast(gcc_jit_rvalue* r, gcc_jit_type* t) {
    return gcc_jit_context_new_cast(c_, nullptr, r, t);
  }

  gcc_jit_rvalue* binary(gcc_jit_binary_op o, gcc_jit_type* t, gcc_jit_rvalue* a,
                         gcc_jit_rvalue* b) {
    return gcc_jit_context_new_binary_op(c_, nullptr, o, t, a, b);
  }

  gcc_jit_rvalue* compare(gcc_jit_comparison o, gcc_jit_rvalue* a, gcc_jit_rvalue* b) {
    return gcc_jit_context_new_comparison(c_, nullptr, o, a, b);
  }

  gcc_jit_rvalue* call_builtin(const char* name, std::initializer_list<gcc_jit_rvalue*> arguments) {
    std::vector<gcc_jit_rvalue*> all(arguments);
    return gcc_jit_context_new_call(c_, nullptr, gcc_jit_context_get_builtin_function(c_, name),
                                    static_cast<int>(all.size()), all.data());
  }

  gcc_jit_rvalue* call_ours(gcc_jit_rvalue* function,
                            std::initializer_list<gcc_jit_rvalue*> arguments) {
    std::vector<gcc_jit_rvalue*> all(arguments);
    return gcc_jit_context_new_call_through_ptr(c_, nullptr, function, static_cast<int>(all.size()),
                                                all.data());
  }

  gcc_jit_lvalue* field(gcc_jit_field* f) {
    return gcc_jit_rvalue_dereference_field(machine_, nullptr, f);
  }

  // -- control ----------------------------------------------------------------

  void branch(gcc_jit_rvalue* condition, gcc_jit_block* yes, gcc_jit_block* no) {
    gcc_jit_block_end_with_conditional(here_, nullptr, condition, yes, no);
  }

  /// Goes on at `elsewhere` if the condition holds, which is rare.
  void leave_if(gcc_jit_rvalue* condition, gcc_jit_block* elsewhere) {
    gcc_jit_type* number = gcc_jit_context_get_type(c_, GCC_JIT_TYPE_LONG);
    gcc_jit_rvalue* zero = gcc_jit_context_zero(c_, number);
    gcc_jit_block* next = new_block();
    branch(compare(GCC_JIT_COMPARISON_NE,
                   call_builtin("__builtin_expect", {cast(condition, number), zero}), zero),
           elsewhere, next);
    here_ = next;
  }

  void fail_if(gcc_jit_rvalue* condition, fault f, position where) {
    gcc_jit_block* rare = new_block();
    leave_if(condition, rare);
    gcc_jit_block_add_assignment(rare, nullptr, site_, b_.site(f, where));
    gcc_jit_block_end_with_jump(rare, nullptr, failed_);
  }

  // -- expressions ------------------------------------------------------------

  /// A constant, a parameter, or a variable that is assigned nowhere else.
  gcc_jit_rvalue* rvalue(const node& e) {
    switch (e.is) {
    case node::kind::constant:
      return e.of == type::integer
               ? b_.constant(e.literal.i)
               : gcc_jit_context_new_rvalue_from_double(c_, b_.real_, e.literal.d);
    case node::kind::variable:
      return slots_.at(e.slot);
    case node::kind::operate:
      return operate(e);
    case node::kind::conditional:
      return conditional(e);
    case node::kind::block:
      for (std::size_t i = 0; i < e.slots.size(); ++i)
        slots_[e.slots[i]] = rvalue(*e.children[i]);
      return rvalue(*e.children.back());
    case node::kind::call:
      return call(e);
    case node::kind::inlined:
      break; // GCC is given what the parser made, and inlines by itself
    }
    __builtin_unreachable();
  }

  gcc_jit_rvalue* conditional(const node& e) {
    gcc_jit_lvalue* result = variable(b_.native(e.of));
    gcc_jit_block* yes = new_block();
    gcc_jit_block* no = new_block();
    gcc_jit_block* after = new_block();
    branch(truth(*e.children[0]), yes, no);
    here_ = yes;
    assign(result, rvalue(*e.children[1]));
    gcc_jit_block_end_with_jump(here_, nullptr, after);
    here_ = no;
    assign(result, rvalue(*e.children[2]));
    gcc_jit_block_end_with_jump(here_, nullptr, after);
    here_ = after;
    return gcc_jit_lvalue_as_rvalue(result);
  }

  /// A condition, without the way through an integer if it is a comparison.
  gcc_jit_rvalue* truth(const node& e) {
    if (e.is == node::kind::operate && is_comparison(e.what)) {
      gcc_jit_rvalue* a = rvalue(*e.children[0]);
      return compare(comparison(e.what), a, rvalue(*e.children[1]));
    }
    return compare(GCC_JIT_COMPARISON_NE, rvalue(e), b_.constant(0));
  }

  static gcc_jit_comparison comparison(operation o) {
    using enum operation;
    switch (o) {
    case lt_i:
    case lt_d:
      return GCC_JIT_COMPARISON_LT;
    case le_i:
    case le_d:
      return GCC_JIT_COMPARISON_LE;
    case gt_i:
    case gt_d:
      return GCC_JIT_COMPARISON_GT;
    case ge_i:
    case ge_d:
      return GCC_JIT_COMPARISON_GE;
    case eq_i:
    case eq_d:
      return GCC_JIT_COMPARISON_EQ;
    default:
      return GCC_JIT_COMPARISON_NE;
    }
  }

  gcc_jit_rvalue* call(const node& e) {
    const function& f = b_.program_.functions[e.callee];
    std::vector<gcc_jit_rvalue*> arguments{machine_, nullptr};
    for (const node_ptr& child : e.children)
      arguments.push_back(rvalue(*child));
    arguments[1] = kept(b_.integer_, binary(GCC_JIT_BINARY_OP_MINUS, b_.integer_, stack_left_,
                                            b_.constant(f.weight)));
    fail_if(compare(GCC_JIT_COMPARISON_LT, arguments[1], b_.constant(0)), fault::recursion_too_deep,
            e.where);
    count_call(e.where);
    gcc_jit_rvalue* result
      = kept(b_.native(f.result),
             gcc_jit_context_new_call(c_, nullptr, b_.functions_.at(e.callee),
                                      static_cast<int>(arguments.size()), arguments.data()));
    gcc_jit_type* number = gcc_jit_context_get_type(c_, GCC_JIT_TYPE_UNSIGNED_INT);
    leave_if(compare(GCC_JIT_COMPARISON_NE, gcc_jit_lvalue_as_rvalue(field(b_.failed_)),
                     gcc_jit_context_zero(c_, number)),
             leave_);
    return result;
  }

  void count_call(position where) {
    gcc_jit_rvalue* left
      = kept(b_.integer_, binary(GCC_JIT_BINARY_OP_MINUS, b_.integer_,
                                 gcc_jit_lvalue_as_rvalue(field(b_.calls_left_)), b_.constant(1)));
    assign(field(b_.calls_left_), left);
    gcc_jit_block* rare = new_block();
    leave_if(compare(GCC_JIT_COMPARISON_LT, left, b_.constant(0)), rare);
    gcc_jit_rvalue* zero = gcc_jit_context_zero(c_, gcc_jit_context_get_type(c_, GCC_JIT_TYPE_INT));
    gcc_jit_block_end_with_conditional(
      rare, nullptr,
      compare(GCC_JIT_COMPARISON_NE,
              call_ours(b_.look_up_, {machine_, b_.site(fault::none, where)}), zero),
      here_, leave_);
  }

  gcc_jit_rvalue* operate(const node& e) {
    using enum operation;
    gcc_jit_rvalue* a = rvalue(*e.children[0]);
    gcc_jit_rvalue* b = is_unary(e.what) ? nullptr : rvalue(*e.children[1]);
    if (is_comparison(e.what))
      return kept(b_.integer_, cast(compare(comparison(e.what), a, b), b_.integer_));
    const auto real
      = [&](gcc_jit_binary_op o) { return kept(b_.real_, binary(o, b_.real_, a, b)); };
    const auto bits
      = [&](gcc_jit_binary_op o) { return kept(b_.integer_, binary(o, b_.integer_, a, b)); };
    switch (e.what) {
    case add_i:
      return checked("__builtin_saddll_overflow", a, b, e.where);
    case sub_i:
      return checked("__builtin_ssubll_overflow", a, b, e.where);
    case mul_i:
      return checked("__builtin_smulll_overflow", a, b, e.where);
    case neg_i:
      return checked("__builtin_ssubll_overflow", b_.constant(0), a, e.where);
    case div_i:
    case rem_i:
      return divide(e, a, b);
    case and_i:
      return bits(GCC_JIT_BINARY_OP_BITWISE_AND);
    case or_i:
      return bits(GCC_JIT_BINARY_OP_BITWISE_OR);
    case xor_i:
      return bits(GCC_JIT_BINARY_OP_BITWISE_XOR);
    case shl_i:
    case shr_i:
      return shift(e, a, b);
    case add_d:
      return real(GCC_JIT_BINARY_OP_PLUS);
    case sub_d:
      return real(GCC_JIT_BINARY_OP_MINUS);
    case mul_d:
      return real(GCC_JIT_BINARY_OP_MULT);
    case div_d:
      return real(GCC_JIT_BINARY_OP_DIVIDE);
    case neg_d:
      return kept(b_.real_,
                  gcc_jit_context_new_unary_op(c_, nullptr, GCC_JIT_UNARY_OP_MINUS, b_.real_, a));
    case sqrt_d:
      return kept(b_.real_, call_builtin("sqrt", {a}));
    case to_real:
      return kept(b_.real_, cast(a, b_.real_));
    default:
      return truncate(e, a);
    }
  }

  gcc_jit_rvalue* checked(const char* builtin, gcc_jit_rvalue* a, gcc_jit_rvalue* b,
                          position where) {
    gcc_jit_lvalue* result = variable(gcc_jit_context_get_type(c_, GCC_JIT_TYPE_LONG_LONG));
    fail_if(call_builtin(builtin, {a, b, gcc_jit_lvalue_get_address(result, nullptr)}),
            fault::overflow, where);
    return gcc_jit_lvalue_as_rvalue(result);
  }

  gcc_jit_rvalue* divide(const node& e, gcc_jit_rvalue* a, gcc_jit_rvalue* b) {
    fail_if(compare(GCC_JIT_COMPARISON_EQ, b, b_.constant(0)), fault::division_by_zero, e.where);
    // The processor traps on the smallest number divided by -1.
    gcc_jit_lvalue* result = variable(b_.integer_);
    gcc_jit_block* minus_one = new_block();
    gcc_jit_block* usual = new_block();
    gcc_jit_block* after = new_block();
    branch(compare(GCC_JIT_COMPARISON_EQ, b, b_.constant(-1)), minus_one, usual);
    here_ = minus_one;
    assign(result, e.what == operation::rem_i
                     ? b_.constant(0)
                     : checked("__builtin_ssubll_overflow", b_.constant(0), a, e.where));
    gcc_jit_block_end_with_jump(here_, nullptr, after);
    here_ = usual;
    assign(result,
           binary(e.what == operation::rem_i ? GCC_JIT_BINARY_OP_MODULO : GCC_JIT_BINARY_OP_DIVIDE,
                  b_.integer_, a, b));
    gcc_jit_block_end_with_jump(here_, nullptr, after);
    here_ = after;
    return gcc_jit_lvalue_as_rvalue(result);
  }

  gcc_jit_rvalue* shift(const node& e, gcc_jit_rvalue* a, gcc_jit_rvalue* b) {
    gcc_jit_rvalue* most = gcc_jit_context_new_rvalue_from_long(c_, b_.unsigned_, 63);
    fail_if(compare(GCC_JIT_COMPARISON_GT, cast(b, b_.unsigned_), most), fault::shift_out_of_range,
            e.where);
    if (e.what == operation::shr_i)
      return kept(b_.integer_, binary(GCC_JIT_BINARY_OP_RSHIFT, b_.integer_, a, b));
    return kept(b_.integer_, cast(binary(GCC_JIT_BINARY_OP_LSHIFT, b_.unsigned_,
                                         cast(a, b_.unsigned_), cast(b, b_.unsigned_)),
                                  b_.integer_));
  }

  gcc_jit_rvalue* truncate(const node& e, gcc_jit_rvalue* a) {
    const auto limit
      = [&](double d) { return gcc_jit_context_new_rvalue_from_double(c_, b_.real_, d); };
    // Two tests, each of them false for NaN.
    gcc_jit_rvalue* fits
      = binary(GCC_JIT_BINARY_OP_LOGICAL_AND, gcc_jit_context_get_type(c_, GCC_JIT_TYPE_BOOL),
               compare(GCC_JIT_COMPARISON_GE, a, limit(-two_to_63)),
               compare(GCC_JIT_COMPARISON_LT, a, limit(two_to_63)));
    fail_if(gcc_jit_context_new_unary_op(c_, nullptr, GCC_JIT_UNARY_OP_LOGICAL_NEGATE,
                                         gcc_jit_context_get_type(c_, GCC_JIT_TYPE_BOOL), fits),
            fault::not_an_integer, e.where);
    return kept(b_.integer_, cast(a, b_.integer_));
  }

  native_builder& b_;
  gcc_jit_context* c_;
  const function& function_;
  gcc_jit_function* made_;
  gcc_jit_rvalue* machine_;
  gcc_jit_rvalue* stack_left_;
  std::size_t variables_ = 0;
  gcc_jit_block* here_; // new instructions go to its end
  gcc_jit_block* leave_;
  gcc_jit_block* failed_;
  gcc_jit_lvalue* site_;
  std::unordered_map<std::uint32_t, gcc_jit_rvalue*> slots_;
};

native_builder::native_builder(gcc_jit_context& context, const program& p, fault_sites& sites)
  : context_(context),
    program_(p),
    sites_(sites),
    integer_(gcc_jit_context_get_type(&context, GCC_JIT_TYPE_LONG_LONG)),
    unsigned_(gcc_jit_context_get_type(&context, GCC_JIT_TYPE_UNSIGNED_LONG_LONG)),
    real_(gcc_jit_context_get_type(&context, GCC_JIT_TYPE_DOUBLE)),
    pointer_(gcc_jit_context_get_type(&context, GCC_JIT_TYPE_VOID_PTR)),
    calls_left_(gcc_jit_context_new_field(&context, nullptr, integer_, "calls_left")),
    failed_(gcc_jit_context_new_field(
      &context, nullptr, gcc_jit_context_get_type(&context, GCC_JIT_TYPE_UNSIGNED_INT), "failed")) {
  gcc_jit_field* fields[] = {calls_left_, failed_};
  machine_pointer_ = gcc_jit_type_get_pointer(gcc_jit_struct_as_type(
    gcc_jit_context_new_struct_type(&context, nullptr, "machine_registers", 2, fields)));
  gcc_jit_type* parameters[] = {machine_pointer_, pointer_};
  const auto ours = [&](gcc_jit_types result, void* function) {
    gcc_jit_type* t = gcc_jit_context_new_function_ptr_type(
      &context, nullptr, gcc_jit_context_get_type(&context, result), 2, parameters, 0);
    return gcc_jit_context_new_rvalue_from_ptr(&context, t, function);
  };
  look_up_ = ours(GCC_JIT_TYPE_INT, reinterpret_cast<void*>(&look_up));
  fail_ = ours(GCC_JIT_TYPE_VOID, reinterpret_cast<void*>(&stop));
}

gcc_jit_rvalue* native_builder::site(fault f, position where) {
  sites_.push_back({f, where});
  return gcc_jit_context_new_rvalue_from_ptr(&context_, pointer_, &sites_.back());
}

void native_builder::declare(std::uint32_t function) {
  const auto& f = program_.functions[function];
  const auto parameter = [&](gcc_jit_type* t, const std::string& name) {
    return gcc_jit_context_new_param(&context_, nullptr, t, name.c_str());
  };
  std::vector<gcc_jit_param*> parameters{parameter(machine_pointer_, "m"),
                                         parameter(integer_, "stack_left")};
  for (std::size_t i = 0; i < f.parameters.size(); ++i)
    parameters.push_back(parameter(native(f.parameters[i]), "p" + std::to_string(i)));
  // Numbered, so that no name of a program means something to GCC.
  functions_[function]
    = gcc_jit_context_new_function(&context_, nullptr, GCC_JIT_FUNCTION_INTERNAL, native(f.result),
                                   ("f" + std::to_string(function)).c_str(),
                                   static_cast<int>(parameters.size()), parameters.data(), 0);
}

void native_builder::define(std::uint32_t function) {
  native_body(*this, program_.functions[function], functions_.at(function)).define();
}

void native_builder::define_entry(std::uint32_t function) {
  const auto& f = program_.functions[function];
  gcc_jit_context* c = &context_;
  gcc_jit_param* parameters[] = {gcc_jit_context_new_param(c, nullptr, machine_pointer_, "m"),
                                 gcc_jit_context_new_param(c, nullptr, integer_, "stack_left"),
                                 gcc_jit_context_new_param(c, nullptr, pointer_, "arguments"),
                                 gcc_jit_context_new_param(c, nullptr, pointer_, "result")};
  gcc_jit_function* entry = gcc_jit_context_new_function(
    c, nullptr, GCC_JIT_FUNCTION_EXPORTED, gcc_jit_context_get_type(c, GCC_JIT_TYPE_VOID),
    entry_name, 4, parameters, 0);
  gcc_jit_block* block = gcc_jit_function_new_block(entry, nullptr);
  // The element `i` of an array of values, as the type that it has.
  const auto element = [&](gcc_jit_param* array, std::size_t i, type t) {
    gcc_jit_rvalue* typed = gcc_jit_context_new_cast(c, nullptr, gcc_jit_param_as_rvalue(array),
                                                     gcc_jit_type_get_pointer(native(t)));
    return gcc_jit_context_new_array_access(c, nullptr, typed,
                                            constant(static_cast<std::int64_t>(i)));
  };
  std::vector<gcc_jit_rvalue*> arguments{gcc_jit_param_as_rvalue(parameters[0]),
                                         gcc_jit_param_as_rvalue(parameters[1])};
  for (std::size_t i = 0; i < f.parameters.size(); ++i)
    arguments.push_back(gcc_jit_lvalue_as_rvalue(element(parameters[2], i, f.parameters[i])));
  gcc_jit_block_add_assignment(block, nullptr, element(parameters[3], 0, f.result),
                               gcc_jit_context_new_call(c, nullptr, functions_.at(function),
                                                        static_cast<int>(arguments.size()),
                                                        arguments.data()));
  gcc_jit_block_end_with_void_return(block, nullptr);
}

} // namespace tiered
