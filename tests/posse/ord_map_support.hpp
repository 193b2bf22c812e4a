/// Parts shared by the tests of ord_map: a look at its trees, and random contents.
#pragma once

#include <basal/posse/ord_map.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace basal::posse {

/// Looks behind an ord_map.
struct ord_map_probe {
  template <class Map>
  static const auto* root(const Map& m) {
    return m.root_;
  }

  /// Whether sizes, heights, balance and order are what they must be.
  template <class Map>
  static bool is_sound(const Map& m) {
    const typename Map::key_type* before = nullptr;
    return is_sound(m.root_, before);
  }

  /// Node for node the same shape and the same entries.
  template <class Map>
  static bool same_tree(const Map& a, const Map& b) {
    return same_tree(a.root_, b.root_);
  }

  /// How many nodes of `a` are not in `b`.
  template <class Map>
  static std::size_t own_nodes(const Map& a, const Map& b) {
    std::set<const void*> others;
    visit(b.root_, [&](auto* n) { others.insert(n); });
    std::size_t result = 0;
    visit(a.root_, [&](auto* n) { result += !others.contains(n); });
    return result;
  }

  template <class Map>
  static int height(const Map& m) {
    return Map::tree::height(m.root_);
  }

private:
  template <class Node, class Key>
  static bool is_sound(const Node* n, const Key*& before) {
    if (n == nullptr)
      return true;
    auto height = [](const Node* t) { return t ? static_cast<int>(t->size_and_height & 255) : 0; };
    auto size = [](const Node* t) { return t ? t->size_and_height >> 8 : 0; };
    if (!is_sound(n->left, before) || (before != nullptr && !(*before < n->key)))
      return false;
    before = &n->key;
    return is_sound(n->right, before) && size(n) == size(n->left) + size(n->right) + 1
           && height(n) == std::max(height(n->left), height(n->right)) + 1
           && std::abs(height(n->left) - height(n->right)) <= 1;
  }

  template <class Node>
  static bool same_tree(const Node* a, const Node* b) {
    if (a == nullptr || b == nullptr)
      return a == b;
    return a->key == b->key && a->value == b->value && a->size_and_height == b->size_and_height
           && same_tree(a->left, b->left) && same_tree(a->right, b->right);
  }

  template <class Node, class Function>
  static void visit(const Node* n, const Function& f) {
    if (n == nullptr)
      return;
    f(n);
    visit(n->left, f);
    visit(n->right, f);
  }
};

} // namespace basal::posse

namespace ord_map_support {

using map = basal::posse::ord_map<std::uint32_t, std::uint64_t>;
using model = std::map<std::uint32_t, std::uint64_t>;

inline model random_model(std::mt19937_64& random, std::size_t entries, std::uint32_t keys) {
  model result;
  for (std::size_t i = 0; i < entries; ++i)
    result[static_cast<std::uint32_t>(random() % keys)] = random();
  return result;
}

inline map make(const model& entries) {
  return map::from_sorted(
    std::vector<std::pair<std::uint32_t, std::uint64_t>>(entries.begin(), entries.end()));
}

/// Sound, and with exactly these entries.
inline bool is(const map& m, const model& expected) {
  return basal::posse::ord_map_probe::is_sound(m) && m.size() == expected.size()
         && std::equal(expected.begin(), expected.end(), m.begin(),
                       [](auto& a, auto b) { return a.first == b.first && a.second == b.second; });
}

} // namespace ord_map_support
