/// The peer of ord_map: a persistent AVL map by the same join-based algorithms,
/// sequential, whose nodes are counted instead of collected. Counts are not
/// atomic, so it is as quick as counting can be; it cannot be shared by threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace basal::bench {

template <class Key, class Value>
class counted_map {
  struct node;

  /// A counted pointer to a node.
  class tree {
  public:
    tree() = default;
    explicit tree(node* n) : node_(n) { // counted already
    }
    tree(const tree& other) : node_(other.node_) {
      if (node_ != nullptr)
        ++node_->count;
    }
    tree(tree&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {
    }
    tree& operator=(tree other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~tree() {
      if (node_ != nullptr && --node_->count == 0)
        delete node_;
    }
    const node* operator->() const {
      return node_;
    }
    explicit operator bool() const {
      return node_ != nullptr;
    }

  private:
    node* node_ = nullptr;
  };

  struct node {
    tree left, right;
    std::size_t count;
    std::size_t size;
    int height;
    Key key;
    Value value;
  };

public:
  template <class Entries>
  static counted_map from_sorted(const Entries& entries) {
    return counted_map{build(entries, 0, entries.size())};
  }

  std::size_t size() const {
    return size(root_);
  }

  friend counted_map set_union(const counted_map& a, const counted_map& b) {
    return counted_map{unite(a.root_, b.root_)};
  }

  template <class Function>
  void for_each(Function function) const {
    for_each(root_, function);
  }

private:
  explicit counted_map(tree root) : root_(std::move(root)) {
  }

  static std::size_t size(const tree& t) {
    return t ? t->size : 0;
  }
  static int height(const tree& t) {
    return t ? t->height : 0;
  }

  static tree make(tree l, const Key& key, const Value& value, tree r) {
    auto its_size = size(l) + size(r) + 1;
    auto its_height = std::max(height(l), height(r)) + 1;
    return tree{new node{std::move(l), std::move(r), 1, its_size, its_height, key, value}};
  }
  static tree with(tree l, const tree& t, tree r) {
    return make(std::move(l), t->key, t->value, std::move(r));
  }

  static tree rebalanced(tree l, const tree& t, tree r) {
    if (height(l) > height(r) + 1) {
      if (height(l->left) >= height(l->right))
        return with(l->left, l, with(l->right, t, std::move(r)));
      const auto& c = l->right;
      return with(with(l->left, l, c->left), c, with(c->right, t, std::move(r)));
    }
    if (height(r) > height(l) + 1) {
      if (height(r->right) >= height(r->left))
        return with(with(std::move(l), t, r->left), r, r->right);
      const auto& c = r->left;
      return with(with(std::move(l), t, c->left), c, with(c->right, r, r->right));
    }
    return with(std::move(l), t, std::move(r));
  }

  static tree join(tree l, const tree& k, tree r) {
    if (height(l) > height(r) + 1)
      return rebalanced(l->left, l, join(l->right, k, std::move(r)));
    if (height(r) > height(l) + 1)
      return rebalanced(join(std::move(l), k, r->left), r, r->right);
    return with(std::move(l), k, std::move(r));
  }

  static std::pair<tree, tree> split(const tree& t, const Key& key) {
    if (!t)
      return {};
    if (key < t->key) {
      auto [l, r] = split(t->left, key);
      return {std::move(l), join(std::move(r), t, t->right)};
    }
    if (t->key < key) {
      auto [l, r] = split(t->right, key);
      return {join(t->left, t, std::move(l)), std::move(r)};
    }
    return {t->left, t->right};
  }

  static tree unite(const tree& a, const tree& b) {
    if (!a)
      return b;
    if (!b)
      return a;
    auto [l, r] = split(b, a->key);
    return join(unite(a->left, l), a, unite(a->right, r));
  }

  template <class Entries>
  static tree build(const Entries& entries, std::size_t first, std::size_t last) {
    if (first == last)
      return {};
    auto middle = first + (last - first) / 2;
    return make(build(entries, first, middle), entries[middle].first, entries[middle].second,
                build(entries, middle + 1, last));
  }

  template <class Function>
  static void for_each(const tree& t, Function& function) {
    if (!t)
      return;
    for_each(t->left, function);
    function(t->key, t->value);
    for_each(t->right, function);
  }

  tree root_;
};

} // namespace basal::bench
