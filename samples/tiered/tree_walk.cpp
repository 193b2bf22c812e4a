#include "tree_walk.hpp"

#include <algorithm>

namespace tiered {

namespace {

/// Ends the walk; the machine knows what happened.
struct stopped {};

class walker {
public:
  walker(const program& p, machine& m) : program_(p), machine_(m) {
  }

  /// @param variables of the active call
  /// @param free memory behind the variables and what is being kept of this call
  // The frame of this function is what limits::stack_bytes bounds, so it stays small: one frame a
  // level, and everything that needs more is a leaf.
  [[gnu::noinline]] value walk(const node& e, value* variables, value* free,
                               std::int64_t stack_left) {
    switch (e.is) {
    case node::kind::constant:
      return e.literal;
    case node::kind::variable:
      return variables[e.slot];
    case node::kind::operate: {
      *free = walk(*e.children[0], variables, free, stack_left);
      if (is_unary(e.what))
        return operate(e, *free, {});
      return operate(e, *free, walk(*e.children[1], variables, free + 1, stack_left));
    }
    case node::kind::conditional: {
      const bool holds = walk(*e.children[0], variables, free, stack_left).i != 0;
      return walk(*e.children[holds ? 1 : 2], variables, free, stack_left);
    }
    case node::kind::block: {
      const std::size_t last = e.children.size() - 1;
      for (std::size_t i = 0; i < last; ++i)
        variables[e.slots[i]] = walk(*e.children[i], variables, free, stack_left);
      return walk(*e.children[last], variables, free, stack_left);
    }
    case node::kind::call: {
      for (std::size_t i = 0; i < e.children.size(); ++i)
        free[i] = walk(*e.children[i], variables, free + i, stack_left);
      const function& f = program_.functions[e.callee];
      stack_left -= f.weight;
      charge(e, stack_left);
      return walk(*f.body, free, free + f.slots, stack_left);
    }
    case node::kind::inlined:
      break; // only optimise() makes these
    }
    __builtin_unreachable();
  }

private:
  [[gnu::noinline]] value operate(const node& e, value a, value b) {
    value result;
    if (const fault f = compute(e.what, a, b, result); f != fault::none) {
      machine_.fail(f, e.where);
      throw stopped{};
    }
    return result;
  }

  void charge(const node& e, std::int64_t stack_left) {
    if (stack_left < 0 || --machine_.calls_left < 0)
      out_of(e, stack_left);
  }

  [[gnu::noinline]] void out_of(const node& e, std::int64_t stack_left) {
    if (stack_left < 0)
      machine_.fail(fault::recursion_too_deep, e.where);
    if (stack_left < 0 || !machine_.look_up(e.where))
      throw stopped{};
  }

  const program& program_;
  machine& machine_;
};

class tree_walk final : public code {
public:
  tree_walk(const program& p, const function& f) : program_(p), function_(f) {
  }

  value run(machine& m, std::int64_t stack_left, std::span<const value> arguments) const override {
    value* variables = m.variables();
    std::copy(arguments.begin(), arguments.end(), variables);
    try {
      return walker(program_, m)
        .walk(*function_.body, variables, variables + function_.slots, stack_left);
    } catch (const stopped&) {
      return {};
    }
  }

private:
  const program& program_;
  const function& function_;
};

} // namespace

std::unique_ptr<const code> make_tree_walk(const program& p, std::uint32_t function) {
  return std::make_unique<tree_walk>(p, p.functions[function]);
}

} // namespace tiered
