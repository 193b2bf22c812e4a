#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/gc/heap.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// How a function on trees calls itself for the two halves: one after the other.
struct in_sequence {
  template <class Left, class Right>
  auto operator()(std::size_t, Left left, Right right) const {
    auto first = left(in_sequence{});
    auto second = right(in_sequence{});
    return std::pair{std::move(first), std::move(second)};
  }
};

/// As a fork. Trees of few nodes are not worth it: a fork costs 3 ns, a visit of
/// a node 1 ns at least, and the compiler makes better code where it sees both
/// calls.
struct in_parallel {
  static constexpr std::size_t min_nodes = 64;

  member& m;

  template <class Left, class Right>
  auto operator()(std::size_t nodes, Left left, Right right) const {
    if (nodes < min_nodes)
      return in_sequence{}(nodes, std::move(left), std::move(right));
    return m.fork_merge([&](member& k) { return left(in_parallel{k}); },
                        [&](member& k) { return right(in_parallel{k}); });
  }
};

/// The first of two values for the same key.
struct keep_first {
  template <class Value>
  const Value& operator()(const Value& a, const Value&) const noexcept {
    return a;
  }
};

/// The trees behind ord_map: AVL, persistent, in the garbage collected heap. Functions on whole
/// trees are made of `join`, after Blelloch, Ferizovic and Sun, "Just Join for Parallel Ordered
/// Sets", SPAA 2016, figures 1 and 2.
///
/// Deviations: nodes are never changed, and are reused where nothing differs
/// (`with_children`), so that results share what they can with their arguments;
/// a subtree that both arguments share is not descended into; one function
/// rebalances in all places, which makes no node that a rotation drops.
template <class Key, class Value, class Less>
struct avl {
  struct node {
    const node* left;
    const node* right;
    std::uint64_t size_and_height; ///< nodes in the tree; height in the low byte
    Key key;
    Value value;
  };

  using tree = const node*; ///< null: the empty tree

  /// Height of the largest tree that fits into an address space: an AVL tree of n
  /// nodes is no higher than 1.44 log2(n + 2) (Adelson-Velsky and Landis, 1962),
  /// and a node takes 32 bytes.
  static constexpr std::size_t max_height = 62;

  static std::size_t size(tree t) noexcept {
    return t != nullptr ? t->size_and_height >> 8 : 0;
  }

  static int height(tree t) noexcept {
    return t != nullptr ? static_cast<int>(t->size_and_height & 0xff) : 0;
  }

  static bool less(const Key& a, const Key& b) {
    return Less{}(a, b);
  }

  // -- nodes -------------------------------------------------------------------

  static tree make(tree l, const Key& key, const Value& value, tree r) {
    BASAL_ASSERT(std::abs(height(l) - height(r)) <= 1, "a node's subtrees are balanced");
    auto height_of_both = static_cast<std::uint64_t>(std::max(height(l), height(r)) + 1);
    auto size_of_both = static_cast<std::uint64_t>(size(l) + size(r) + 1);
    return new (gc::allocate(sizeof(node), gc::content::pointers))
      node{l, r, size_of_both << 8 | height_of_both, key, value};
  }

  /// The entry of `t` between `l` and `r`, whose heights differ by at most 1.
  static tree with_children(tree l, tree t, tree r) {
    return t->left == l && t->right == r ? t : make(l, t->key, t->value, r);
  }

  /// The same where the heights may differ by 2: with a rotation then.
  static tree rebalanced(tree l, tree t, tree r) {
    BASAL_ASSERT(std::abs(height(l) - height(r)) <= 2, "one rotation balances a tree");
    if (height(l) > height(r) + 1) {
      if (height(l->left) >= height(l->right))
        return with_children(l->left, l, with_children(l->right, t, r));
      auto c = l->right;
      return with_children(with_children(l->left, l, c->left), c, with_children(c->right, t, r));
    }
    if (height(r) > height(l) + 1) {
      if (height(r->right) >= height(r->left))
        return with_children(with_children(l, t, r->left), r, r->right);
      auto c = r->left;
      return with_children(with_children(l, t, c->left), c, with_children(c->right, r, r->right));
    }
    return with_children(l, t, r);
  }

  // -- join --------------------------------------------------------------------

  /// All of `l`, the entry of `k`, all of `r`. O(|h(l) - h(r)|).
  static tree join(tree l, tree k, tree r) {
    if (height(l) > height(r) + 1)
      return rebalanced(l->left, l, join(l->right, k, r));
    if (height(r) > height(l) + 1)
      return rebalanced(join(l, k, r->left), r, r->right);
    return with_children(l, k, r);
  }

  /// The last node of `t`, and the others.
  static std::pair<tree, tree> split_last(tree t) {
    if (t->right == nullptr)
      return {t->left, t};
    auto [rest, last] = split_last(t->right);
    return {rebalanced(t->left, t, rest), last};
  }

  static tree join2(tree l, tree r) {
    if (l == nullptr)
      return r;
    if (r == nullptr)
      return l;
    auto [rest, last] = split_last(l);
    return join(rest, last, r);
  }

  struct parts {
    tree left;
    tree middle; ///< the node of the key, or null
    tree right;
  };

  static parts split(tree t, const Key& key) {
    if (t == nullptr)
      return {nullptr, nullptr, nullptr};
    if (less(key, t->key)) {
      auto s = split(t->left, key);
      return {s.left, s.middle, join(s.right, t, t->right)};
    }
    if (less(t->key, key)) {
      auto s = split(t->right, key);
      return {join(t->left, t, s.left), s.middle, s.right};
    }
    return {t->left, t, t->right};
  }

  // -- one entry ---------------------------------------------------------------

  static tree find(tree t, const Key& key) {
    while (t != nullptr) {
      if (less(key, t->key))
        t = t->left;
      else if (less(t->key, key))
        t = t->right;
      else
        break;
    }
    return t;
  }

  static tree first(tree t) noexcept {
    BASAL_ASSERT(t != nullptr, "the empty tree has no first entry");
    while (t->left != nullptr)
      t = t->left;
    return t;
  }

  static tree last(tree t) noexcept {
    BASAL_ASSERT(t != nullptr, "the empty tree has no last entry");
    while (t->right != nullptr)
      t = t->right;
    return t;
  }

  static std::size_t rank(tree t, const Key& key) {
    std::size_t before = 0;
    while (t != nullptr) {
      if (less(t->key, key)) {
        before += size(t->left) + 1;
        t = t->right;
      } else {
        t = t->left;
      }
    }
    return before;
  }

  static tree insert(tree t, const Key& key, const Value& value, bool assign) {
    if (t == nullptr)
      return make(nullptr, key, value, nullptr);
    if (less(key, t->key)) {
      auto l = insert(t->left, key, value, assign);
      return l == t->left ? t : rebalanced(l, t, t->right);
    }
    if (less(t->key, key)) {
      auto r = insert(t->right, key, value, assign);
      return r == t->right ? t : rebalanced(t->left, t, r);
    }
    return assign ? make(t->left, key, value, t->right) : t;
  }

  static tree erase(tree t, const Key& key) {
    if (t == nullptr)
      return nullptr;
    if (less(key, t->key)) {
      auto l = erase(t->left, key);
      return l == t->left ? t : rebalanced(l, t, t->right);
    }
    if (less(t->key, key)) {
      auto r = erase(t->right, key);
      return r == t->right ? t : rebalanced(t->left, t, r);
    }
    return join2(t->left, t->right);
  }

  // -- two trees ---------------------------------------------------------------

  /// `l`, the entry that `a` and `b` have in common, `r`.
  template <class Combine>
  static tree combined(tree l, tree a, tree b, tree r, const Combine& combine) {
    if constexpr (std::is_same_v<Combine, keep_first>) {
      return join(l, a, r);
    } else {
      // On the stack, for join to copy: no tree has it as a child, so it is
      // never taken for the result.
      node entry{nullptr, nullptr, 0, a->key, combine(a->value, b->value)};
      entry.left = &entry;
      tree hidden = &entry;
      asm("" : "+r"(hidden)); // or g++ 12 warns the user that join may return it
      return join(l, hidden, r);
    }
  }

  template <class Fork, class Combine>
  static tree unite(Fork fork, tree a, tree b, const Combine& combine) {
    if (a == nullptr)
      return b;
    if (b == nullptr)
      return a;
    if constexpr (std::is_same_v<Combine, keep_first>)
      if (a == b)
        return a;
    // The root of the larger tree divides both, so that more of it is shared.
    if (size(a) >= size(b)) {
      auto s = split(b, a->key);
      auto [l, r] = fork(
        size(a) + size(b), [&](auto f) { return unite(f, a->left, s.left, combine); },
        [&](auto f) { return unite(f, a->right, s.right, combine); });
      return s.middle != nullptr ? combined(l, a, s.middle, r, combine) : join(l, a, r);
    }
    auto s = split(a, b->key);
    auto [l, r] = fork(
      size(a) + size(b), [&](auto f) { return unite(f, s.left, b->left, combine); },
      [&](auto f) { return unite(f, s.right, b->right, combine); });
    return s.middle != nullptr ? combined(l, s.middle, b, r, combine) : join(l, b, r);
  }

  template <class Fork, class Combine>
  static tree intersect(Fork fork, tree a, tree b, const Combine& combine) {
    if (a == nullptr || b == nullptr)
      return nullptr;
    if constexpr (std::is_same_v<Combine, keep_first>)
      if (a == b)
        return a;
    auto s = split(b, a->key);
    auto [l, r] = fork(
      size(a) + size(b), [&](auto f) { return intersect(f, a->left, s.left, combine); },
      [&](auto f) { return intersect(f, a->right, s.right, combine); });
    return s.middle != nullptr ? combined(l, a, s.middle, r, combine) : join2(l, r);
  }

  template <class Fork>
  static tree subtract(Fork fork, tree a, tree b) {
    if (a == nullptr || a == b)
      return nullptr;
    if (b == nullptr)
      return a;
    auto s = split(b, a->key);
    auto [l, r] = fork(
      size(a) + size(b), [&](auto f) { return subtract(f, a->left, s.left); },
      [&](auto f) { return subtract(f, a->right, s.right); });
    return s.middle != nullptr ? join2(l, r) : join(l, a, r);
  }

  // -- all entries -------------------------------------------------------------

  /// From entries first..last of `at`, perfectly balanced; left gets the ceiling.
  template <class Fork, class At>
  static tree build(Fork fork, const At& at, std::size_t first, std::size_t last) {
    if (first == last)
      return nullptr;
    auto middle = first + (last - first) / 2;
    auto [l, r] = fork(
      last - first, [&](auto f) { return build(f, at, first, middle); },
      [&](auto f) { return build(f, at, middle + 1, last); });
    decltype(auto) entry = at(middle);
    return make(l, entry.first, entry.second, r);
  }

  /// A tree of the same shape with other values.
  template <class Fork, class OtherNode, class Function>
  static tree map_from(Fork fork, const OtherNode* t, const Function& function) {
    if (t == nullptr)
      return nullptr;
    auto [l, r] = fork(
      t->size_and_height >> 8, [&](auto f) { return map_from(f, t->left, function); },
      [&](auto f) { return map_from(f, t->right, function); });
    return make(l, t->key, function(t->key, t->value), r);
  }

  template <class Fork, class Predicate>
  static tree filter(Fork fork, tree t, const Predicate& predicate) {
    if (t == nullptr)
      return nullptr;
    auto [l, r] = fork(
      size(t), [&](auto f) { return filter(f, t->left, predicate); },
      [&](auto f) { return filter(f, t->right, predicate); });
    return predicate(t->key, t->value) ? join(l, t, r) : join2(l, r);
  }

  /// In order: (left, entry), right.
  template <class Result, class Fork, class Project, class Combine>
  static Result reduce(Fork fork, tree t, const Result& identity, const Project& project,
                       const Combine& combine) {
    if (t == nullptr)
      return identity;
    auto [l, r] = fork(
      size(t), [&](auto f) { return reduce<Result>(f, t->left, identity, project, combine); },
      [&](auto f) { return reduce<Result>(f, t->right, identity, project, combine); });
    return combine(combine(std::move(l), project(t->key, t->value)), std::move(r));
  }

  template <class Function>
  static void for_each(tree t, Function& function) {
    for (; t != nullptr; t = t->right) {
      for_each(t->left, function);
      function(t->key, t->value);
    }
  }
};

} // namespace basal::posse::detail
