/// Items and results as bytes: the same value is the same bytes on every machine, so that results
/// of two executions can be compared by comparing their bytes.
///
/// Integers and enumerations are little-endian of their own width; a float is its bits, so NaNs
/// keep their payload and -0.0 its sign; a string or a vector is its count (32 bit) and its
/// elements; an optional is a byte and maybe a value; pairs, tuples and arrays are their elements
/// in order. So is a structure that lists its fields:
///
///     struct tile { int x, y; double zoom; };
///     template <class Fields>
///     auto inspect(Fields& f, tile& t) { return f(t.x, t.y, t.zoom); }
///
/// `inspect` is found beside the structure. A type that contains itself, a tree say, is refused by
/// the compiler: how deep such a value is would be the sender's choice.
///
/// Decoding never takes more memory than decode_limits::memory says, and asks before it takes any.
/// Functions of this header may be called from any thread.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <basal/cluster/errors.hpp>

namespace basal::cluster {

/// Limits of decoding one value.
struct decode_limits {
  std::size_t memory = std::size_t{256} << 20; ///< bytes of strings and vectors, together
};

namespace detail {

/// The argument of `inspect`: hands the fields on as references.
struct field_lister {
  template <class... Fields>
  auto operator()(Fields&... fields) const noexcept {
    return std::tie(fields...);
  }
};

template <class T>
concept lists_fields = requires(field_lister& f, T& x) {
  inspect(f, x);
};

template <class T>
concept tuple_like = requires {
  std::tuple_size<T>::value;
};

template <class T>
struct element_of_vector {};
template <class E, class A>
struct element_of_vector<std::vector<E, A>> {
  using type = E;
};

template <class T>
struct element_of_optional {};
template <class E>
struct element_of_optional<std::optional<E>> {
  using type = E;
};

template <class T>
struct element_of_array {};
template <class E, std::size_t N>
struct element_of_array<std::array<E, N>> {
  using type = E;
};

template <class T>
concept is_array = requires {
  typename element_of_array<T>::type;
};
template <class T>
concept is_vector = requires {
  typename element_of_vector<T>::type;
};
template <class T>
concept is_optional = requires {
  typename element_of_optional<T>::type;
};
template <class T>
concept is_float = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept is_number = std::integral<T> || is_float<T>;

/// Numbers that lie in memory as they do in a message.
template <class T>
concept is_plain
  = is_number<T> && !std::same_as<T, bool> && std::endian::native == std::endian::little;

template <class T>
inline constexpr bool no_codec = false;

/// The fields of `x` as a tuple of references.
template <class T>
auto fields_of(T& x) {
  if constexpr (lists_fields<T>) {
    field_lister f;
    return inspect(f, x);
  } else {
    return std::apply([](auto&... e) { return std::tie(e...); }, x);
  }
}

template <class Tuple>
struct types_of;

template <class T>
using field_types = decltype(fields_of(std::declval<T&>()));

/// The fewest bytes that a value of this type takes.
template <class T>
consteval std::size_t least_bytes() {
  if constexpr (is_number<T> || std::is_enum_v<T>)
    return sizeof(T);
  else if constexpr (std::same_as<T, std::string> || is_vector<T>)
    return sizeof(std::uint32_t);
  else if constexpr (is_optional<T>)
    return 1;
  else if constexpr (is_array<T>)
    return std::tuple_size_v<T> * least_bytes<typename element_of_array<T>::type>();
  else if constexpr (tuple_like<T> || lists_fields<T>)
    return types_of<field_types<T>>::least_bytes();
  else
    static_assert(no_codec<T>, "the codec knows bool, integers, float, double, enumerations, "
                               "std::string, std::vector, std::optional, pairs, tuples, arrays, "
                               "and structures with `auto inspect(Fields& f, T& x)` beside them");
}

/// FNV-1a, 64 bit.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  for (int i = 0; i < 8; ++i)
    hash = (hash ^ ((value >> (8 * i)) & 0xff)) * 0x100000001b3;
  return hash;
}

enum class shape : std::uint8_t {
  truth = 1,
  with_sign,
  without_sign,
  floating,
  text,
  list,
  maybe,
  row,
  sequence
};

constexpr std::uint64_t mixed(std::uint64_t hash, shape s, std::uint64_t detail) noexcept {
  return mixed(mixed(hash, static_cast<std::uint64_t>(s)), detail);
}

template <class T>
consteval std::uint64_t mixed_type(std::uint64_t hash) {
  if constexpr (std::same_as<T, bool>)
    return mixed(hash, shape::truth, 1);
  else if constexpr (std::is_enum_v<T>)
    return mixed_type<std::underlying_type_t<T>>(hash);
  else if constexpr (std::integral<T>)
    return mixed(hash, std::is_signed_v<T> ? shape::with_sign : shape::without_sign, sizeof(T));
  else if constexpr (is_float<T>)
    return mixed(hash, shape::floating, sizeof(T));
  else if constexpr (std::same_as<T, std::string>)
    return mixed(hash, shape::text, 1);
  else if constexpr (is_vector<T>)
    return mixed_type<typename element_of_vector<T>::type>(mixed(hash, shape::list, 1));
  else if constexpr (is_optional<T>)
    return mixed_type<typename element_of_optional<T>::type>(mixed(hash, shape::maybe, 1));
  else if constexpr (is_array<T>)
    return mixed_type<typename element_of_array<T>::type>(
      mixed(hash, shape::row, std::tuple_size_v<T>));
  else
    return types_of<field_types<T>>::mixed_into(hash);
}

template <class... Fields>
struct types_of<std::tuple<Fields&...>> {
  static consteval std::size_t least_bytes() {
    return (std::size_t{0} + ... + detail::least_bytes<Fields>());
  }

  static consteval std::uint64_t mixed_into(std::uint64_t hash) {
    hash = mixed(hash, shape::sequence, sizeof...(Fields));
    ((hash = mixed_type<Fields>(hash)), ...);
    return hash;
  }
};

} // namespace detail

/// A type that can be an item, a result, or a part of one.
template <class T>
concept encodable = std::is_object_v<T> && !std::is_const_v<T> && requires {
  detail::least_bytes<T>();
};

/// A number for the layout of T's bytes: two programs whose types have the same number read each
/// other's values. The names of fields and types do not count.
template <encodable T>
consteval std::uint64_t signature() {
  return detail::mixed_type<T>(0xcbf29ce484222325);
}

/// Appends values to a string of bytes.
class encoder {
public:
  /// Appends to `out`, which must outlive it.
  explicit encoder(std::string& out) noexcept : out_(out) {
  }

  /// @throws error too_large, where a string or a vector has 2^32 elements or more
  template <class T>
  void put(const T& x) {
    if constexpr (std::same_as<T, bool>)
      put_bits(static_cast<std::uint8_t>(x));
    else if constexpr (std::is_enum_v<T>)
      put(static_cast<std::underlying_type_t<T>>(x));
    else if constexpr (std::integral<T>)
      put_bits(static_cast<std::make_unsigned_t<T>>(x));
    else if constexpr (std::same_as<T, float>)
      put_bits(std::bit_cast<std::uint32_t>(x));
    else if constexpr (std::same_as<T, double>)
      put_bits(std::bit_cast<std::uint64_t>(x));
    else if constexpr (std::same_as<T, std::string>)
      put_text(x);
    else if constexpr (detail::is_vector<T>)
      put_list(x);
    else if constexpr (detail::is_optional<T>)
      put_maybe(x);
    else if constexpr (detail::is_array<T>)
      for (const auto& e : x)
        put(e);
    else if constexpr (detail::lists_fields<T>) // `inspect` may take it as T& alone; it only reads
      put_fields(detail::fields_of(const_cast<T&>(x)));
    else
      put_fields(x);
  }

  /// Appends a count of bytes (32 bit) and the bytes.
  /// @throws error too_large, std::bad_alloc
  void put_text(std::string_view text) {
    put_count(text.size());
    out_.append(text);
  }

private:
  void put_count(std::size_t count);

  template <class Bits>
  void put_bits(Bits bits) {
    char bytes[sizeof(Bits)];
    for (std::size_t i = 0; i < sizeof(Bits); ++i)
      bytes[i] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
    out_.append(bytes, sizeof bytes);
  }

  template <class T>
  void put_list(const T& list) {
    using element = typename detail::element_of_vector<T>::type;
    put_count(list.size());
    if constexpr (detail::is_plain<element>)
      out_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(element));
    else
      for (const element& e : list)
        put<element>(e);
  }

  template <class T>
  void put_maybe(const T& x) {
    put(x.has_value());
    if (x)
      put(*x);
  }

  template <class Tuple>
  void put_fields(const Tuple& fields) {
    std::apply([&](const auto&... field) { (put(field), ...); }, fields);
  }

  std::string& out_;
};

/// Takes values from bytes that anybody may have written.
class decoder {
public:
  /// Reads `bytes`, which must outlive it.
  /// @param bytes values as an encoder wrote them, or anything else
  /// @param limits of values, whatever the bytes claim
  explicit decoder(std::string_view bytes, decode_limits limits = {}) noexcept
    : begin_(bytes.data()), rest_(bytes), memory_left_(limits.memory) {
  }

  /// @throws error malformed, too_large
  template <class T>
  T get() {
    if constexpr (std::same_as<T, bool>)
      return get_truth();
    else if constexpr (std::is_enum_v<T>)
      return static_cast<T>(get<std::underlying_type_t<T>>());
    else if constexpr (std::integral<T>)
      return static_cast<T>(get_bits<std::make_unsigned_t<T>>());
    else if constexpr (std::same_as<T, float>)
      return std::bit_cast<float>(get_bits<std::uint32_t>());
    else if constexpr (std::same_as<T, double>)
      return std::bit_cast<double>(get_bits<std::uint64_t>());
    else if constexpr (std::same_as<T, std::string>)
      return std::string{get_text()};
    else if constexpr (detail::is_vector<T>)
      return get_list<T>();
    else if constexpr (detail::is_optional<T>)
      return get_truth() ? T{get<typename detail::element_of_optional<T>::type>()} : T{};
    else {
      T result{};
      get_into(result);
      return result;
    }
  }

  /// A string that stays where it is.
  std::string_view get_text();

  /// @throws error malformed, unless everything was taken
  void expect_end() const;

private:
  [[noreturn]] void fail(const char* why) const;
  std::string_view take(std::size_t count);
  bool get_truth();

  /// A count of elements, for all of which there are bytes and memory.
  std::size_t get_count(std::size_t least_bytes, std::size_t memory);

  template <class Bits>
  Bits get_bits() {
    const auto bytes = take(sizeof(Bits));
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < sizeof(Bits); ++i)
      result |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return static_cast<Bits>(result);
  }

  template <class T>
  T get_list() {
    using element = typename detail::element_of_vector<T>::type;
    static_assert(detail::least_bytes<element>() > 0, "elements that take no bytes have no bound");
    const auto count = get_count(detail::least_bytes<element>(), sizeof(element));
    T result;
    if constexpr (detail::is_plain<element>) {
      result.resize(count);
      const auto bytes = take(count * sizeof(element));
      if (count > 0)
        std::memcpy(result.data(), bytes.data(), bytes.size());
    } else {
      result.reserve(count);
      for (std::size_t i = 0; i < count; ++i)
        result.push_back(get<element>());
    }
    return result;
  }

  template <class T>
  void get_into(T& x) {
    const auto each
      = [&](auto&... field) { ((field = get<std::remove_cvref_t<decltype(field)>>()), ...); };
    if constexpr (detail::is_array<T>)
      for (auto& e : x)
        each(e);
    else
      std::apply(each, detail::fields_of(x));
  }

  const char* begin_;
  std::string_view rest_;
  std::size_t memory_left_;
};

/// The bytes of a value.
/// @throws error too_large
template <encodable T>
std::string encode(const T& x) {
  std::string result;
  encoder{result}.put(x);
  return result;
}

/// The value whose bytes these are, all of them.
/// @throws error malformed, too_large
template <encodable T>
T decode(std::string_view bytes, decode_limits limits = {}) {
  decoder from{bytes, limits};
  auto result = from.get<T>();
  from.expect_end();
  return result;
}

} // namespace basal::cluster
