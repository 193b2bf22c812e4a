#include "optimise.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "reachable.hpp"

namespace tiered {

namespace {

// Nodes of a function that may be inlined. A call costs about as much as 10 instructions.
constexpr std::size_t most_inlined_nodes = 40;

std::size_t count_nodes(const node& e) {
  std::size_t n = 1;
  for (const node_ptr& child : e.children)
    n += count_nodes(*child);
  return n;
}

bool has_calls(const node& e) {
  return e.is == node::kind::call
         || std::any_of(e.children.begin(), e.children.end(),
                        [](const node_ptr& child) { return has_calls(*child); });
}

node_ptr copy_without_children(const node& e) {
  auto made = std::make_unique<node>();
  made->is = e.is;
  made->what = e.what;
  made->of = e.of;
  made->where = e.where;
  made->slot = e.slot;
  made->callee = e.callee;
  made->weight = e.weight;
  made->literal = e.literal;
  return made;
}

bool is_simple(const node& e) {
  return e.is == node::kind::constant || e.is == node::kind::variable;
}

// Replacements of variables: a constant or another variable, of the function that is being made.
using substitutes = std::unordered_map<std::uint32_t, const node*>;

class optimiser {
public:
  explicit optimiser(const program& p) : source_(p) {
    made_.functions.resize(p.functions.size());
    state_.resize(p.functions.size());
  }

  program all(std::uint32_t entry) {
    for (std::size_t i = 0; i < source_.functions.size(); ++i) {
      const function& f = source_.functions[i];
      function& to = made_.functions[i];
      to.name = f.name;
      to.where = f.where;
      to.parameters = f.parameters;
      to.result = f.result;
      to.slots = f.slots;
      to.weight = f.weight;
    }
    for (const std::uint32_t i : reachable(source_, entry))
      make(i);
    return std::move(made_);
  }

private:
  enum class state : std::uint8_t { untouched, begun, made };

  void make(std::uint32_t i) {
    if (state_[i] != state::untouched)
      return;
    state_[i] = state::begun;
    // Callees first, so that what they became can be inlined; recursion ends at those that have
    // begun, which are not.
    substitutes none;
    for (std::uint32_t callee : direct_callees(*source_.functions[i].body))
      make(callee);
    const std::uint32_t before = std::exchange(current_, i);
    made_.functions[i].body = copy(*source_.functions[i].body, none, 0, 0);
    current_ = before;
    state_[i] = state::made;
  }

  static std::vector<std::uint32_t> direct_callees(const node& e) {
    std::vector<std::uint32_t> all;
    const auto walk = [&](const auto& self, const node& n) -> void {
      if (n.is == node::kind::call)
        all.push_back(n.callee);
      for (const node_ptr& child : n.children)
        self(self, *child);
    };
    walk(walk, e);
    return all;
  }

  function& current() {
    return made_.functions[current_];
  }

  // A copy for the current function, simplified.
  // @param shift added to the slots of `e`
  // @param charged weight of the inlined calls around `e`
  node_ptr copy(const node& e, substitutes& known, std::uint32_t shift, std::int64_t charged) {
    switch (e.is) {
    case node::kind::constant:
      return copy_without_children(e);
    case node::kind::variable: {
      const auto found = known.find(e.slot + shift);
      auto made = copy_without_children(found == known.end() ? e : *found->second);
      made->where = e.where;
      if (found == known.end())
        made->slot += shift;
      return made;
    }
    case node::kind::operate:
      return fold(with_children(e, known, shift, charged));
    case node::kind::conditional: {
      node_ptr condition = copy(*e.children[0], known, shift, charged);
      if (condition->is == node::kind::constant)
        return copy(*e.children[condition->literal.i != 0 ? 1 : 2], known, shift, charged);
      auto made = copy_without_children(e);
      made->children.push_back(std::move(condition));
      made->children.push_back(copy(*e.children[1], known, shift, charged));
      made->children.push_back(copy(*e.children[2], known, shift, charged));
      return made;
    }
    case node::kind::block:
    case node::kind::inlined:
      return copy_bindings(e, known, shift, charged);
    case node::kind::call: {
      auto made = with_children(e, known, shift, charged);
      return may_inline(*made) ? inline_call(std::move(made), charged) : std::move(made);
    }
    }
    __builtin_unreachable();
  }

  node_ptr with_children(const node& e, substitutes& known, std::uint32_t shift,
                         std::int64_t charged) {
    auto made = copy_without_children(e);
    for (const node_ptr& child : e.children)
      made->children.push_back(copy(*child, known, shift, charged));
    return made;
  }

  static node_ptr fold(node_ptr e) {
    const auto is_constant = [](const node_ptr& n) { return n->is == node::kind::constant; };
    if (!std::all_of(e->children.begin(), e->children.end(), is_constant))
      return e;
    value result;
    const value b = e->children.size() == 2 ? e->children[1]->literal : value{};
    if (compute(e->what, e->children[0]->literal, b, result) != fault::none)
      return e; // to happen when it runs, if it does
    auto made = std::make_unique<node>();
    made->of = e->of;
    made->where = e->where;
    made->literal = result;
    return made;
  }

  // Of a block, or of a call that was inlined before into what is now inlined elsewhere.
  node_ptr copy_bindings(const node& e, substitutes& known, std::uint32_t shift,
                         std::int64_t charged) {
    auto made = copy_without_children(e);
    const bool is_call = e.is == node::kind::inlined;
    for (std::size_t i = 0; i < e.slots.size(); ++i)
      bind(*made, e.slots[i] + shift, copy(*e.children[i], known, shift, charged), known);
    if (is_call)
      made->weight = charged + e.weight;
    node_ptr result = copy(*e.children.back(), known, shift, charged);
    if (!is_call && made->slots.empty())
      return result;
    made->children.push_back(std::move(result));
    return made;
  }

  // Simple values are put where the variable stands; others are computed once.
  void bind(node& block, std::uint32_t slot, node_ptr v, substitutes& known) {
    if (is_simple(*v)) {
      known[slot] = v.get();
      kept_.push_back(std::move(v));
      return;
    }
    block.slots.push_back(slot);
    block.children.push_back(std::move(v));
  }

  bool may_inline(const node& call) const {
    if (state_[call.callee] != state::made)
      return false;
    const function& f = made_.functions[call.callee];
    if (has_calls(*f.body) || count_nodes(*f.body) > most_inlined_nodes)
      return false;
    // The machine's memory for variables is sized by the weights, which inlining does not change;
    // it adds at most one temporary for each node.
    const function& into = made_.functions[current_];
    const std::size_t grown
      = into.slots + f.slots + temporaries(*source_.functions[current_].body) + most_inlined_nodes;
    return sizeof(value) * grown <= static_cast<std::size_t>(into.weight);
  }

  node_ptr inline_call(node_ptr call, std::int64_t charged) {
    const function& f = made_.functions[call->callee];
    const std::uint32_t shift = current().slots;
    current().slots += f.slots;
    auto made = std::make_unique<node>();
    made->is = node::kind::inlined;
    made->of = call->of;
    made->where = call->where;
    made->weight = charged + f.weight;
    substitutes known;
    for (std::uint32_t i = 0; i < call->children.size(); ++i)
      bind(*made, shift + i, std::move(call->children[i]), known);
    made->children.push_back(copy(*f.body, known, shift, charged + f.weight));
    return made;
  }

  const program& source_;
  program made_;
  std::vector<state> state_;
  std::uint32_t current_ = 0;
  std::vector<node_ptr> kept_; // substitutes
};

} // namespace

program optimise(const program& p, std::uint32_t entry) {
  return optimiser(p).all(entry);
}

} // namespace tiered
