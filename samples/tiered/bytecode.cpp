#include "bytecode.hpp"

#include <algorithm>

#include "instruction_set.hpp"
#include "reachable.hpp"

namespace tiered {

namespace {

class bytecode final : public code {
public:
  bytecode(const program& p, std::uint32_t entry, bool fused) : entry_(entry) {
    functions_.resize(p.functions.size());
    for (const std::uint32_t i : reachable(p, entry))
      functions_[i] = assemble(p.functions[i], fused);
  }

  value run(machine& m, std::int64_t stack_left, std::span<const value> arguments) const override;

private:
  std::vector<bytecode_function> functions_;
  std::uint32_t entry_;
};

value bytecode::run(machine& m, std::int64_t stack_left, std::span<const value> arguments) const {
  const bytecode_function* active = &functions_[entry_];
  const instruction* next = active->instructions.data();
  const value* k = active->constants.data();
  value* r = m.variables();
  std::copy(arguments.begin(), arguments.end(), r);
  m.callers.clear();

  const auto place = [&] {
    return active->places[static_cast<std::size_t>(next - 1 - active->instructions.data())];
  };
  // One place where a fault leaves, so that `next` and `r` stay in the processor's registers.
  fault failed = fault::none;

  for (;;) {
    const instruction now = *next++;
    switch (now.what) {
#define TIERED_OPERATION(name)                                                                     \
  case opcode::name: {                                                                             \
    failed = compute<operation::name>(r[now.b], r[now.c], r[now.a]);                               \
    if (failed != fault::none) [[unlikely]]                                                        \
      goto fault;                                                                                  \
    break;                                                                                         \
  }
#define TIERED_OPERATION_UNARY(name)                                                               \
  case opcode::name: {                                                                             \
    failed = compute<operation::name>(r[now.b], value{}, r[now.a]);                                \
    if (failed != fault::none) [[unlikely]]                                                        \
      goto fault;                                                                                  \
    break;                                                                                         \
  }
#define TIERED_OPERATION_K(name)                                                                   \
  case opcode::name##_k: {                                                                         \
    failed = compute<operation::name>(r[now.b], k[now.c], r[now.a]);                               \
    if (failed != fault::none) [[unlikely]]                                                        \
      goto fault;                                                                                  \
    break;                                                                                         \
  }
#define TIERED_UNLESS(name)                                                                        \
  case opcode::unless_##name: {                                                                    \
    value holds;                                                                                   \
    compute<operation::name>(r[now.a], r[now.b], holds);                                           \
    if (holds.i == 0)                                                                              \
      next = active->instructions.data() + now.c;                                                  \
    break;                                                                                         \
  }                                                                                                \
  case opcode::unless_##name##_k: {                                                                \
    value holds;                                                                                   \
    compute<operation::name>(r[now.a], k[now.b], holds);                                           \
    if (holds.i == 0)                                                                              \
      next = active->instructions.data() + now.c;                                                  \
    break;                                                                                         \
  }
      TIERED_COMPARISONS(TIERED_OPERATION)
      TIERED_ARITHMETIC(TIERED_OPERATION)
      TIERED_UNARY(TIERED_OPERATION_UNARY)
      TIERED_COMPARISONS(TIERED_OPERATION_K)
      TIERED_ARITHMETIC(TIERED_OPERATION_K)
      TIERED_COMPARISONS(TIERED_UNLESS)
#undef TIERED_OPERATION
#undef TIERED_OPERATION_UNARY
#undef TIERED_OPERATION_K
#undef TIERED_UNLESS
    case opcode::constant:
      r[now.a] = k[now.c];
      break;
    case opcode::move:
      r[now.a] = r[now.b];
      break;
    case opcode::jump:
      next = active->instructions.data() + now.c;
      break;
    case opcode::unless:
      if (r[now.a].i == 0)
        next = active->instructions.data() + now.c;
      break;
    case opcode::call: {
      const bytecode_function& callee = functions_[now.c];
      if (stack_left < callee.weight) [[unlikely]] {
        failed = fault::recursion_too_deep;
        goto fault;
      }
      if (--m.calls_left < 0 && !m.look_up(place())) [[unlikely]]
        return {};
      m.callers.push_back({next, active, r, stack_left});
      stack_left -= callee.weight;
      r += now.a;
      active = &callee;
      next = callee.instructions.data();
      k = callee.constants.data();
      break;
    }
    case opcode::charge:
      if (stack_left < k[now.c].i) [[unlikely]] {
        failed = fault::recursion_too_deep;
        goto fault;
      }
      if (--m.calls_left < 0 && !m.look_up(place())) [[unlikely]]
        return {};
      break;
    case opcode::give_back:
    case opcode::give_back_k: {
      const value result = now.what == opcode::give_back ? r[now.a] : k[now.c];
      if (m.callers.empty())
        return result;
      const machine::caller& back = m.callers.back();
      *r = result; // the callee's first register is the one that the call names
      next = static_cast<const instruction*>(back.resume);
      active = static_cast<const bytecode_function*>(back.code);
      k = active->constants.data();
      r = back.variables;
      stack_left = back.stack_left;
      m.callers.pop_back();
      break;
    }
    case opcode::muladd_d:
      r[now.a].d += r[now.b].d * r[now.c].d;
      break;
    }
  }
fault:
  m.fail(failed, place());
  return {};
}

} // namespace

std::unique_ptr<const code> make_bytecode(const program& p, std::uint32_t function, dialect d) {
  return std::make_unique<bytecode>(p, function, d == dialect::fused);
}

} // namespace tiered
