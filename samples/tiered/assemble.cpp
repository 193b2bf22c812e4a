#include "instruction_set.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace tiered {

namespace {

constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();

constexpr opcode plain(operation o) noexcept {
  switch (o) {
#define TIERED_CASE(name)                                                                          \
  case operation::name:                                                                            \
    return opcode::name;
    TIERED_COMPARISONS(TIERED_CASE)
    TIERED_ARITHMETIC(TIERED_CASE)
    TIERED_UNARY(TIERED_CASE)
#undef TIERED_CASE
  }
  __builtin_unreachable();
}

constexpr opcode with_constant(operation o) noexcept {
  switch (o) {
#define TIERED_CASE(name)                                                                          \
  case operation::name:                                                                            \
    return opcode::name##_k;
    TIERED_COMPARISONS(TIERED_CASE)
    TIERED_ARITHMETIC(TIERED_CASE)
#undef TIERED_CASE
  default:
    __builtin_unreachable();
  }
}

constexpr opcode unless(operation o, bool constant) noexcept {
  switch (o) {
#define TIERED_CASE(name)                                                                          \
  case operation::name:                                                                            \
    return constant ? opcode::unless_##name##_k : opcode::unless_##name;
    TIERED_COMPARISONS(TIERED_CASE)
#undef TIERED_CASE
  default:
    __builtin_unreachable();
  }
}

class assembler {
public:
  assembler(const function& f, bool fused) : function_(f), fused_(fused) {
  }

  bytecode_function all() {
    made_.weight = function_.weight;
    made_.registers = function_.slots;
    free_ = function_.slots;
    give_back(*function_.body);
    // The machine's memory is sized by the weight.
    assert(std::int64_t{sizeof(value)} * made_.registers <= made_.weight);
    return std::move(made_);
  }

private:
  std::uint16_t numbered(std::size_t n, const char* what) const {
    if (n > most)
      throw std::runtime_error("'" + function_.name + "' needs more than " + std::to_string(most)
                               + " " + what + "; split it");
    return static_cast<std::uint16_t>(n);
  }

  std::uint16_t reg(std::size_t n) {
    made_.registers = std::max(made_.registers, static_cast<std::uint32_t>(n + 1));
    return numbered(n, "registers");
  }

  std::uint16_t constant(value v) {
    auto& all = made_.constants;
    const auto found = std::find_if(all.begin(), all.end(), [&](value k) { return k.i == v.i; });
    if (found != all.end())
      return numbered(static_cast<std::size_t>(found - all.begin()), "constants");
    all.push_back(v);
    return numbered(all.size() - 1, "constants");
  }

  std::size_t here() const {
    return made_.instructions.size();
  }

  std::size_t emit(opcode what, position where, std::size_t a = 0, std::size_t b = 0,
                   std::size_t c = 0) {
    made_.instructions.push_back({what, numbered(a, "registers"), numbered(b, "registers"),
                                  numbered(c, "instructions or constants")});
    made_.places.push_back(where);
    return here() - 1;
  }

  void jumps_here(std::size_t jump) {
    made_.instructions[jump].c = numbered(here(), "instructions");
  }

  // The register with the value of `e`, without an instruction if the value is in a register
  // already. Variables do not change while an expression that names them is computed: only the lets
  // around the expression write them.
  std::uint16_t operand(const node& e, std::size_t target) {
    if (e.is == node::kind::variable)
      return reg(e.slot);
    into(e, target);
    return reg(target);
  }

  // Computes `e` into register `target`. Registers from `free_` on may be overwritten; target is
  // a variable or below `free_` + 1.
  void into(const node& e, std::size_t target) {
    const std::size_t outer = free_;
    switch (e.is) {
    case node::kind::constant:
      emit(opcode::constant, e.where, reg(target), 0, constant(e.literal));
      break;
    case node::kind::variable:
      if (e.slot != target)
        emit(opcode::move, e.where, reg(target), reg(e.slot));
      break;
    case node::kind::operate:
      operate(e, target);
      break;
    case node::kind::conditional: {
      const std::size_t otherwise = branch_unless(*e.children[0]);
      into(*e.children[1], target);
      const std::size_t end = emit(opcode::jump, e.where);
      jumps_here(otherwise);
      into(*e.children[2], target);
      jumps_here(end);
      break;
    }
    case node::kind::block:
    case node::kind::inlined:
      bind(e);
      into(*e.children.back(), target);
      break;
    case node::kind::call: {
      const std::size_t base = free_;
      for (const node_ptr& argument : e.children) {
        into(*argument, free_);
        ++free_;
      }
      reg(base); // the result, if there is no argument
      emit(opcode::call, e.where, base, 0, e.callee);
      if (base != target)
        emit(opcode::move, e.where, reg(target), base);
      break;
    }
    }
    free_ = outer;
  }

  void bind(const node& e) {
    for (std::size_t i = 0; i < e.slots.size(); ++i)
      into(*e.children[i], e.slots[i]);
    if (e.is == node::kind::inlined)
      emit(opcode::charge, e.where, 0, 0, constant(of(e.weight)));
  }

  // The two operands of `e`, each in a register; the first is kept while the second is computed.
  std::pair<std::uint16_t, std::uint16_t> operands(const node& e) {
    const std::size_t outer = free_;
    const std::uint16_t a = operand(*e.children[0], free_);
    if (a == outer)
      ++free_;
    const std::uint16_t b = operand(*e.children[1], free_);
    free_ = outer;
    return {a, b};
  }

  static bool is_constant(const node& e) {
    return e.is == node::kind::constant;
  }

  void operate(const node& e, std::size_t target) {
    if (is_unary(e.what)) {
      const std::uint16_t a = operand(*e.children[0], free_);
      emit(plain(e.what), e.where, reg(target), a);
    } else if (fused_ && is_constant(*e.children[1])) {
      const std::uint16_t a = operand(*e.children[0], free_);
      emit(with_constant(e.what), e.where, reg(target), a, constant(e.children[1]->literal));
    } else if (fused_ && e.what == operation::add_d && is_product(*e.children[1])) {
      // The sum is built where nothing else is: the target may be an operand of the product.
      const std::size_t outer = free_;
      into(*e.children[0], free_);
      ++free_;
      const auto [b, c] = operands(*e.children[1]);
      emit(opcode::muladd_d, e.where, outer, b, c);
      free_ = outer;
      if (outer != target)
        emit(opcode::move, e.where, reg(target), outer);
    } else {
      const auto [a, b] = operands(e);
      emit(plain(e.what), e.where, reg(target), a, b);
    }
  }

  static bool is_product(const node& e) {
    return e.is == node::kind::operate && e.what == operation::mul_d;
  }

  // A jump that is taken unless the condition holds; where to is not known yet.
  std::size_t branch_unless(const node& e) {
    if (fused_ && e.is == node::kind::operate && is_comparison(e.what)) {
      if (is_constant(*e.children[1])) {
        const std::uint16_t a = operand(*e.children[0], free_);
        return emit(unless(e.what, true), e.where, a, constant(e.children[1]->literal));
      }
      const auto [a, b] = operands(e);
      return emit(unless(e.what, false), e.where, a, b);
    }
    return emit(opcode::unless, e.where, operand(e, free_));
  }

  // Returns the value of `e`. Fused code returns from each branch.
  void give_back(const node& e) {
    if (fused_ && e.is == node::kind::conditional) {
      const std::size_t otherwise = branch_unless(*e.children[0]);
      give_back(*e.children[1]);
      jumps_here(otherwise);
      give_back(*e.children[2]);
    } else if (fused_ && (e.is == node::kind::block || e.is == node::kind::inlined)) {
      bind(e);
      give_back(*e.children.back());
    } else if (fused_ && is_constant(e)) {
      emit(opcode::give_back_k, e.where, 0, 0, constant(e.literal));
    } else {
      emit(opcode::give_back, e.where, operand(e, free_));
    }
  }

  const function& function_;
  const bool fused_;
  bytecode_function made_;
  std::size_t free_ = 0; // the first register that holds nothing
};

} // namespace

bytecode_function assemble(const function& f, bool fused) {
  return assembler(f, fused).all();
}

} // namespace tiered
