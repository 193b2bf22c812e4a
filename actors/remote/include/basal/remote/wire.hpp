#pragma once

// The compiler checks which messages may be sent to another process.

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/deserializer.hpp>
#include <caf/detail/type_traits.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>
#include <caf/meta/annotation.hpp>
#include <caf/none.hpp>
#include <caf/replies_to.hpp>
#include <caf/serializer.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>

namespace basal::remote {

namespace detail {

template <class T>
void check_value();

/// Looks like a serialiser to a type's `inspect`, and asks the compiler about each field.
struct field_checker {
  using result_type = caf::error;
  static constexpr bool reads_state = true;
  static constexpr bool writes_state = false;

  template <class... Fields>
  result_type operator()(Fields&&...) {
    (check_value<std::remove_cvref_t<Fields>>(), ...);
    return caf::none;
  }
};

template <class T>
concept inspectable = requires(field_checker& f, T& x) {
  inspect(f, x);
};

template <class T>
concept typed_handle = requires {
  typename T::signatures;
}
&&!std::same_as<typename T::signatures, caf::none_t>; // caf::actor

template <class T>
concept tuple_like = requires {
  std::tuple_size<T>::value;
};

/// The part of a duration, or of a point of time, that CAF writes.
template <class T>
struct time_part {};
template <class Rep, class Period>
struct time_part<std::chrono::duration<Rep, Period>> {
  using type = Rep;
};
template <class Clock, class Duration>
struct time_part<std::chrono::time_point<Clock, Duration>> {
  using type = Duration;
};

template <class T>
concept time_like = requires {
  typename time_part<T>::type;
};

/// Nothing of it is written, or CAF alone looks into it.
template <class T>
inline constexpr bool left_to_caf
  = std::disjunction_v<std::is_void<T>, std::is_base_of<caf::meta::annotation, T>,
                       caf::is_allowed_unsafe_message_type<T>, std::is_same<T, caf::message>,
                       std::is_same<T, caf::node_id>, std::is_same<T, caf::uri>>;

template <class Signatures>
struct signature_checker;

template <class T>
void refuse_unseen() {
  static_assert(
    !std::same_as<T, T>,
    "nobody can see whether there are floating-point numbers in what CAF writes of this "
    "type: give it a template inspect(Inspector&, T&), and no serialize()");
}

/// Fails to compile where a T has a floating-point number, or cannot be looked into. Does nothing.
/// The order is CAF's (caf/data_processor.hpp): serialize() wins over inspect().
template <class T>
void check_value() {
  static_assert(!std::is_floating_point_v<T>,
                "CAF 0.17.6's wire format changes NaN, -0.0 and subnormal numbers and never ends "
                "with an infinite one: send a basal::actors::real (real.hpp) in place of a "
                "floating-point number, and basal::actors::reals in place of a vector of them");
  if constexpr (typed_handle<T>) {
    signature_checker<typename T::signatures>::check();
  } else if constexpr (left_to_caf<T> || (std::is_empty_v<T> && !inspectable<T>)) {
    // There is nothing to look at.
  } else if constexpr (caf::detail::has_serialize<T>::value) {
    refuse_unseen<T>();
  } else if constexpr (inspectable<T>) {
    // The compiler has to look into inspect, nobody has to call it.
    constexpr auto look = [](field_checker& f, T& x) { inspect(f, x); };
    static_cast<void>(static_cast<void (*)(field_checker&, T&)>(look));
  } else if constexpr (tuple_like<T>) {
    []<std::size_t... I>(std::index_sequence<I...>) {
      (check_value<std::remove_cvref_t<std::tuple_element_t<I, T>>>(), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (std::ranges::range<T>) {
    check_value<std::remove_cv_t<std::ranges::range_value_t<T>>>();
  } else if constexpr (time_like<T>) {
    check_value<typename time_part<T>::type>();
  } else if constexpr (!std::is_arithmetic_v<T> && !std::is_enum_v<T>) {
    refuse_unseen<T>();
  }
}

template <class... In, class... Out, class... More>
struct signature_checker<caf::detail::type_list<
  caf::typed_mpi<caf::detail::type_list<In...>, caf::output_tuple<Out...>>, More...>> {
  static void check() {
    (check_value<In>(), ...);
    (check_value<Out>(), ...);
    signature_checker<caf::detail::type_list<More...>>::check();
  }
};

template <>
struct signature_checker<caf::detail::type_list<>> {
  static void check() {
  }
};

} // namespace detail

/// Fails to compile, with a sentence, where a message or an answer of the typed actor `Handle` has
/// a floating-point number, which CAF's wire format would change: also in what is nested in their
/// types, and where nobody can see what is nested. The contents of a `caf::message` and of a
/// `caf::error`'s context are not checked.
template <class Handle>
void check_interface() {
  static_assert(detail::typed_handle<Handle>,
                "the messages of a caf::actor are not known, so nobody can check that they survive "
                "CAF's wire format: give the actor a type (caf::typed_actor), or take the "
                "responsibility: basal::remote::unchecked");
  if constexpr (detail::typed_handle<Handle>)
    detail::signature_checker<typename Handle::signatures>::check();
}

} // namespace basal::remote
