#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/avl.hpp>
#include <basal/posse/gc/object.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse {

using gc::inspect; // where an ord_map's own namespace is looked through

/// An ordered map from Key to Value that never changes: every operation returns
/// another map, which shares with the old one all that is the same in both. A
/// copy is a snapshot, costs two words, and may be read by any number of threads.
///
/// A balanced (AVL) tree in the garbage collected heap; so maps stand where heap
/// values may stand (gc/heap.hpp), and in messages as gc::handle<ord_map<...>>.
///
/// Operations on whole maps are the join-based ones of Blelloch, Ferizovic and
/// Sun, "Just Join for Parallel Ordered Sets", SPAA 2016: for maps of n and m <= n
/// entries, set_union and its like do O(m log(n/m + 1)) work. They come in two
/// forms, sequential and, with a member in front, parallel. Both give the same
/// tree, node for node, whatever is stolen. Functions passed to the parallel form
/// are called by several threads at once.
///
/// Everything may throw std::bad_alloc and what the account in force throws (see
/// gc/account.hpp), and passes on what the passed functions throw.
///
/// @tparam Key, Value  trivially destructible, copyable; for text take gc::string
/// @tparam Less        a strict weak order, without state
template <class Key, class Value, class Less = std::less<>>
class ord_map {
  using tree = detail::avl<Key, Value, Less>;
  using node = typename tree::node;

public:
  /// As of std::map, except that a value cannot be changed in its place.
  /// @{
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<const Key&, const Value&>;
  /// @}
  using points_into_heap = void; ///< see gc::heap_value

  class const_iterator;
  using iterator = const_iterator; ///< a map is never changed in its place

  ord_map() noexcept = default;

  /// From entries in strictly ascending order of keys. O(n).
  /// @throws std::invalid_argument for entries that are not
  template <std::ranges::random_access_range Entries>
  static ord_map from_sorted(const Entries& entries) {
    return from_sorted_with(detail::in_sequence{}, entries);
  }

  /// The same by forks of `m`: O(n) work, O(log n) span.
  template <std::ranges::random_access_range Entries>
  static ord_map from_sorted(member& m, const Entries& entries) {
    return from_sorted_with(detail::in_parallel{m}, entries);
  }

  // -- one entry: O(log n) -----------------------------------------------------

  /// Entries. O(1).
  std::size_t size() const noexcept {
    return tree::size(root_);
  }

  /// Whether there are no entries. O(1).
  bool empty() const noexcept {
    return root_ == nullptr;
  }

  /// @returns the value of `key`, or null. Valid while the map, or one that
  ///          shares the entry, is where the collector looks.
  const Value* find(const Key& key) const {
    const auto* n = tree::find(root_, key);
    return n != nullptr ? &n->value : nullptr;
  }

  /// Whether the key is there. O(log n).
  bool contains(const Key& key) const {
    return find(key) != nullptr;
  }

  /// @throws std::out_of_range
  const Value& at(const Key& key) const {
    const auto* found = find(key);
    if (found == nullptr)
      throw std::out_of_range("ord_map: no such key");
    return *found;
  }

  /// How many keys come before `key`.
  std::size_t rank(const Key& key) const {
    return tree::rank(root_, key);
  }

  /// With `key` bound to `value`, also if it was bound before.
  ord_map insert_or_assign(const Key& key, const Value& value) const {
    return ord_map{tree::insert(root_, key, value, true)};
  }

  /// With `key` bound to `value`, unless it was bound before: then this map.
  ord_map insert(const Key& key, const Value& value) const {
    return ord_map{tree::insert(root_, key, value, false)};
  }

  /// Without `key`.
  ord_map erase(const Key& key) const {
    return ord_map{tree::erase(root_, key)};
  }

  struct split_result;

  /// The entries before `key`, its value, and those after it.
  split_result split(const Key& key) const {
    auto s = tree::split(root_, key);
    return {ord_map{s.left}, s.middle != nullptr ? std::optional{s.middle->value} : std::nullopt,
            ord_map{s.right}};
  }

  /// All entries of `a`, then all of `b`. Every key of `a` must come before every
  /// key of `b`. O(difference of the heights).
  /// @throws std::invalid_argument where they do not
  friend ord_map concatenate(const ord_map& a, const ord_map& b) {
    if (!a.empty() && !b.empty() && !Less{}(tree::last(a.root_)->key, tree::first(b.root_)->key))
      throw std::invalid_argument("ord_map: the keys of the first map must come before those of "
                                  "the second");
    return ord_map{tree::join2(a.root_, b.root_)};
  }

  // -- two maps ----------------------------------------------------------------

  /// The first map's value, for an entry whose key both maps have.
  using keep_first = detail::keep_first;

  /// The entries of both. For keys in both, the value is `combine(a's, b's)`.
  template <class Combine = keep_first>
  friend ord_map set_union(const ord_map& a, const ord_map& b, const Combine& combine = {}) {
    return ord_map{tree::unite(detail::in_sequence{}, a.root_, b.root_, combine)};
  }
  template <class Combine = keep_first>
  friend ord_map set_union(member& m, const ord_map& a, const ord_map& b,
                           const Combine& combine = {}) {
    return ord_map{tree::unite(detail::in_parallel{m}, a.root_, b.root_, combine)};
  }

  /// The entries whose key is in both, with the value `combine(a's, b's)`.
  template <class Combine = keep_first>
  friend ord_map set_intersection(const ord_map& a, const ord_map& b, const Combine& combine = {}) {
    return ord_map{tree::intersect(detail::in_sequence{}, a.root_, b.root_, combine)};
  }
  template <class Combine = keep_first>
  friend ord_map set_intersection(member& m, const ord_map& a, const ord_map& b,
                                  const Combine& combine = {}) {
    return ord_map{tree::intersect(detail::in_parallel{m}, a.root_, b.root_, combine)};
  }

  /// The entries of `a` whose key is not in `b`.
  friend ord_map set_difference(const ord_map& a, const ord_map& b) {
    return ord_map{tree::subtract(detail::in_sequence{}, a.root_, b.root_)};
  }
  friend ord_map set_difference(member& m, const ord_map& a, const ord_map& b) {
    return ord_map{tree::subtract(detail::in_parallel{m}, a.root_, b.root_)};
  }

  // -- all entries: O(n) work --------------------------------------------------

  /// The same keys with the values `function(key, value)`.
  template <class Function>
  auto map(const Function& function) const {
    return map_with(detail::in_sequence{}, function);
  }

  /// The same by forks of `m`. `function` is called for several entries at the same time.
  template <class Function>
  auto map(member& m, const Function& function) const {
    return map_with(detail::in_parallel{m}, function);
  }

  /// The entries for which `predicate(key, value)` holds.
  template <class Predicate>
  ord_map filter(const Predicate& predicate) const {
    return ord_map{tree::filter(detail::in_sequence{}, root_, predicate)};
  }

  /// The same by forks of `m`. `predicate` is called for several entries at the same time.
  template <class Predicate>
  ord_map filter(member& m, const Predicate& predicate) const {
    return ord_map{tree::filter(detail::in_parallel{m}, root_, predicate)};
  }

  /// `combine` over `project(key, value)` of all entries in ascending order, or
  /// `identity` of the empty map. `combine` must be associative, with that
  /// identity; it need not be commutative.
  template <class Result, class Project, class Combine>
  Result map_reduce(const Result& identity, const Project& project, const Combine& combine) const {
    return tree::template reduce<Result>(detail::in_sequence{}, root_, identity, project, combine);
  }

  /// The same by forks of `m`, with the same result.
  template <class Result, class Project, class Combine>
  Result map_reduce(member& m, const Result& identity, const Project& project,
                    const Combine& combine) const {
    return tree::template reduce<Result>(detail::in_parallel{m}, root_, identity, project, combine);
  }

  /// `combine` over the values in ascending order of their keys.
  template <class Combine>
  Value reduce(const Value& identity, const Combine& combine) const {
    return map_reduce(identity, value_of, combine);
  }

  /// The same by forks of `m`, with the same result.
  template <class Combine>
  Value reduce(member& m, const Value& identity, const Combine& combine) const {
    return map_reduce(m, identity, value_of, combine);
  }

  /// Calls `function(key, value)` for all entries in ascending order; quicker
  /// than iterators.
  template <class Function>
  void for_each(Function&& function) const {
    tree::for_each(root_, function);
  }

  /// The entries in ascending order of their keys. An iterator is valid as long as a map that has
  /// its entries is where the collector looks. begin() is O(log n).
  /// @{
  const_iterator begin() const {
    return const_iterator::leftmost(root_);
  }
  const_iterator end() const noexcept {
    return {};
  }
  /// @}

  /// The first entry whose key is not before `key`.
  const_iterator lower_bound(const Key& key) const {
    return const_iterator::not_before(root_, key);
  }

  /// Whether both are the same tree, not only equal. O(1).
  bool is_same(const ord_map& other) const noexcept {
    return root_ == other.root_;
  }

  /// Equal entries; O(1) for the same tree.
  friend bool operator==(const ord_map& a, const ord_map& b) {
    return a.root_ == b.root_ || (a.size() == b.size() && std::ranges::equal(a, b));
  }

private:
  template <class, class, class>
  friend class ord_map;
  friend struct ord_map_probe; ///< for tests of the tree's shape

  static_assert(gc::collectable<Key> && gc::collectable<Value>,
                "the collector runs no destructors: keys and values of an ord_map must be "
                "trivially destructible. In place of std::string take gc::string");

  static constexpr auto value_of = [](const Key&, const Value& v) -> const Value& { return v; };

  explicit ord_map(const node* root) noexcept : root_(root) {
  }

  template <class Fork, class Entries>
  static ord_map from_sorted_with(Fork fork, const Entries& entries) {
    auto first = std::ranges::begin(entries);
    using offset = std::iter_difference_t<decltype(first)>;
    auto at = [&](std::size_t i) -> decltype(auto) { return first[static_cast<offset>(i)]; };
    auto count = static_cast<std::size_t>(std::ranges::distance(entries));
    for (std::size_t i = 1; i < count; ++i)
      if (!Less{}(at(i - 1).first, at(i).first))
        throw std::invalid_argument("ord_map: entries must be in strictly ascending order of "
                                    "keys");
    return ord_map{tree::build(fork, at, 0, count)};
  }

  template <class Fork, class Function>
  auto map_with(Fork fork, const Function& function) const {
    using result = std::decay_t<std::invoke_result_t<const Function&, const Key&, const Value&>>;
    using mapped = ord_map<Key, result, Less>;
    return mapped{detail::avl<Key, result, Less>::map_from(fork, root_, function)};
  }

  const node* root_ = nullptr;
};

/// A map divided at a key; see split().
template <class Key, class Value, class Less>
struct ord_map<Key, Value, Less>::split_result {
  ord_map left;               ///< entries of lesser keys
  std::optional<Value> value; ///< of the key itself, if it was there
  ord_map right;              ///< entries of greater keys
};

/// Forward, in ascending order. It carries the path from the root, so it holds
/// some 500 bytes and needs no memory beside; it keeps the map alive.
template <class Key, class Value, class Less>
class ord_map<Key, Value, Less>::const_iterator {
public:
  /// As of std::iterator_traits.
  /// @{
  using value_type = ord_map::value_type;
  using reference = value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag; // it makes its references

  const_iterator() noexcept = default;
  /// @}

  /// Copies the path from the root: up to as many pointers as the map is high.
  /// @{
  const_iterator(const const_iterator& other) noexcept : depth_(other.depth_) {
    std::copy_n(other.path_.begin(), depth_, path_.begin());
  }
  const_iterator& operator=(const const_iterator& other) noexcept {
    depth_ = other.depth_;
    std::copy_n(other.path_.begin(), depth_, path_.begin());
    return *this;
  }
  /// @}

  /// The entry as references to its key and value. Not at the end.
  reference operator*() const noexcept {
    return {current()->key, current()->value};
  }

  /// To the next entry; O(1) on average, O(log n) at most. Not at the end.
  /// @{
  const_iterator& operator++() noexcept {
    BASAL_ASSERT(depth_ > 0, "nothing comes after the end of a map");
    const auto* n = path_[--depth_];
    descend(n->right);
    return *this;
  }
  const_iterator operator++(int) noexcept {
    auto before = *this;
    ++*this;
    return before;
  }
  /// @}

  friend bool operator==(const const_iterator& a, const const_iterator& b) noexcept {
    return a.depth_ == b.depth_ && (a.depth_ == 0 || a.current() == b.current());
  }

private:
  friend class ord_map;

  const node* current() const noexcept {
    BASAL_ASSERT(depth_ > 0, "the end of a map is no entry");
    return path_[depth_ - 1];
  }

  static const_iterator leftmost(const node* n) noexcept {
    const_iterator result;
    result.descend(n);
    return result;
  }

  static const_iterator not_before(const node* n, const Key& key) {
    const_iterator result;
    while (n != nullptr) {
      if (Less{}(n->key, key)) {
        n = n->right;
      } else {
        result.path_[result.depth_++] = n;
        n = n->left;
      }
    }
    return result;
  }

  void descend(const node* n) noexcept {
    for (; n != nullptr; n = n->left)
      path_[depth_++] = n;
  }

  /// The entries that are still to come and whose right subtrees are, too.
  std::size_t depth_ = 0;
  std::array<const node*, tree::max_height> path_;
};

} // namespace basal::posse

template <class Key, class Value, class Less>
class std::allocator<basal::posse::ord_map<Key, Value, Less>>
  : basal::posse::gc::detail::no_allocator<basal::posse::ord_map<Key, Value, Less>> {};
