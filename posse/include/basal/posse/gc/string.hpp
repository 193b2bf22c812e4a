#pragma once

#include <compare>
#include <functional>
#include <ostream>
#include <string_view>

#include <basal/posse/gc/vector.hpp>

namespace basal::posse::gc {

/// An immutable text in the heap, never scanned. Copies and slices share the
/// characters. Not terminated by a zero.
class string : public detail::not_on_its_own<string> {
public:
  using points_into_heap = void; ///< see heap_value
  constexpr string() noexcept = default;

  /// Copies. @throws std::bad_alloc, what the account in force throws.
  explicit string(std::string_view text) : characters_(text) {
  }

  /// Valid while this or a copy is where the collector looks.
  std::string_view view() const noexcept {
    return {characters_.data(), characters_.size()};
  }
  operator std::string_view() const noexcept {
    return view();
  }

  /// As of std::string_view; an index must be below size(). Sizes are in bytes. O(1).
  /// @{
  std::size_t size() const noexcept {
    return characters_.size();
  }
  bool empty() const noexcept {
    return characters_.empty();
  }
  const char* begin() const noexcept {
    return characters_.begin();
  }
  const char* end() const noexcept {
    return characters_.end();
  }
  char operator[](std::size_t index) const noexcept {
    return characters_[index];
  }
  /// @}

  /// The characters from `first` on, at most `count`, without a copy.
  string slice(std::size_t first, std::size_t count = std::string_view::npos) const noexcept {
    string result;
    result.characters_ = characters_.slice(first, count);
    return result;
  }

  /// `a` followed by `b`.
  friend string operator+(const string& a, const string& b) {
    string result;
    result.characters_ = vector<char>::generate(
      a.size() + b.size(), [&](std::size_t i) { return i < a.size() ? a[i] : b[i - a.size()]; });
    return result;
  }

  friend bool operator==(const string& a, std::string_view b) noexcept {
    return a.view() == b;
  }
  friend bool operator==(const string& a, const string& b) noexcept {
    return a.view() == b.view();
  }
  friend auto operator<=>(const string& a, std::string_view b) noexcept {
    return a.view() <=> b;
  }
  friend auto operator<=>(const string& a, const string& b) noexcept {
    return a.view() <=> b.view();
  }
  friend std::ostream& operator<<(std::ostream& out, const string& text) {
    return out << text.view();
  }

private:
  vector<char> characters_;
};

} // namespace basal::posse::gc

template <>
class std::allocator<basal::posse::gc::string>
  : public basal::posse::gc::detail::no_allocation<basal::posse::gc::string> {};

template <class Key>
class std::allocator<std::pair<const Key, basal::posse::gc::string>>
  : public basal::posse::gc::detail::no_allocator<basal::posse::gc::string, Key> {};

template <>
struct std::hash<basal::posse::gc::string> {
  std::size_t operator()(const basal::posse::gc::string& text) const noexcept {
    return std::hash<std::string_view>{}(text.view());
  }
};
