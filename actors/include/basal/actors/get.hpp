#pragma once

#include <basal/actors/detail/awaited_answer.hpp>
#include <basal/actors/errors.hpp>

#include <caf/actor_cast.hpp>
#include <caf/blocking_actor.hpp>
#include <caf/duration.hpp>
#include <caf/response_type.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/sec.hpp>
#include <caf/typed_actor_pointer.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace basal::actors {

namespace detail {

/// CAF's own type as it is: one of more than 292 years overflows CAF's clock.
inline caf::duration timeout_of(const caf::duration& timeout) {
  return timeout;
}

/// Any duration, by way of double, since one in other units than CAF's may overflow on its way to
/// nanoseconds. A century and more is infinite, no number 0.
template <class Rep, class Period>
caf::duration timeout_of(const std::chrono::duration<Rep, Period>& timeout) {
  const std::chrono::duration<double> wanted = timeout;
  if (wanted > std::chrono::hours{100 * 365 * 24})
    return caf::infinite;
  if (!(wanted.count() > 0))
    return caf::duration{std::chrono::nanoseconds{0}};
  return caf::duration{std::chrono::duration_cast<std::chrono::nanoseconds>(wanted)};
}

template <class... Results>
struct answer {
  using type = std::tuple<Results...>;
};
template <class Result>
struct answer<Result> {
  using type = Result;
};
template <>
struct answer<> {
  using type = void;
};

/// The return type of get<Results...>(). get<void>() is get<>().
template <class... Results>
using answer_t = caf::expected<typename answer<Results...>::type>;

/// Of an answer that has other types than expected: the error that it is or stands for.
caf::error error_of(caf::mailbox_element& answer);

/// The content of an answer, without a message of its own for it.
template <class... Results>
answer_t<Results...> take_answer(caf::mailbox_element& from) {
  auto& content = from.content();
  if (!content.match_elements<Results...>())
    return error_of(from);
  return [&]<std::size_t... I>(std::index_sequence<I...>)->answer_t<Results...> {
    if constexpr (sizeof...(Results) == 0)
      return caf::unit;
    else
      return typename answer<Results...>::type{content.move_if_unshared<Results>(I)...};
  }
  (std::index_sequence_for<Results...>{});
}

template <class... Ts>
using message_types
  = caf::detail::type_list<typename caf::detail::implicit_conversions<std::decay_t<Ts>>::type...>;

/// The thread that calls sleeps.
template <class... Results, class Blocking, class Handle, class... Ts>
answer_t<Results...> get_blocking(Blocking* self, const Handle& other, const caf::duration& timeout,
                                  Ts&&... xs) {
  answer_t<Results...> result{caf::sec::runtime_error};
  self->request(other, timeout, std::forward<Ts>(xs)...)
    .receive(
      [&](Results&... values) {
        if constexpr (sizeof...(Results) == 0)
          result = answer_t<Results...>{caf::unit};
        else
          result = typename answer<Results...>::type{std::move(values)...};
      },
      [&](caf::error& problem) { result = std::move(problem); });
  return result;
}

/// Whether a handler of `self` runs on an executor, or in a test with CAF's deterministic
/// scheduler. Others have a thread of their own: detached actors and brokers.
bool waits_without_thread(caf::scheduled_actor& self);

template <class... Results, class Handle, class... Ts>
answer_t<Results...> get_suspended(caf::scheduled_actor& self, const Handle& other,
                                   const caf::duration& timeout, Ts&&... xs) {
  if (!other)
    return caf::make_error(caf::sec::invalid_argument);
  if (!waits_without_thread(self)) {
    caf::scoped_actor waits{self.home_system()};
    return get_blocking<Results...>(waits.ptr(), other, timeout, std::forward<Ts>(xs)...);
  }
  using request = awaited_request_of<typename caf::unbox_message_element<
    typename caf::detail::strip_and_convert<Ts>::type>::type...>;
  auto sent = std::make_unique<request>(caf::strong_actor_ptr{self.ctrl()},
                                        self.new_request_id(caf::message_priority::normal),
                                        std::forward<Ts>(xs)...);
  auto came = awaited_answer::await(self, *caf::actor_cast<caf::actor_control_block*>(other),
                                    std::move(sent), timeout);
  if (!came)
    return std::move(came.error());
  return take_answer<Results...>(**came);
}

template <class... Results, class Self, class Handle, class... Ts>
auto get_from(Self* self, const Handle& other, const caf::duration& timeout, Ts&&... xs) {
  static_assert(sizeof...(Ts) > 0, "no message to send");
  using signatures = typename Handle::signatures;
  using types = message_types<Ts...>;
  static_assert(caf::response_type_unbox<signatures, types>::valid,
                "the receiver does not accept this message");
  if constexpr (!std::is_same_v<signatures, caf::none_t>)
    static_assert(std::is_same_v<caf::response_type_unbox_t<signatures, types>,
                                 caf::detail::type_list<Results...>>,
                  "get<T...>: T... are not the types of the receiver's answer");
  if constexpr (std::derived_from<Self, caf::blocking_actor>)
    return get_blocking<Results...>(self, other, timeout, std::forward<Ts>(xs)...);
  else
    return get_suspended<Results...>(*self, other, timeout, std::forward<Ts>(xs)...);
}

template <class Pack>
struct getter;
template <class... Results>
struct getter<caf::detail::type_list<Results...>> {
  template <class... Args>
  static auto call(Args&&... args) {
    return get_from<Results...>(std::forward<Args>(args)...);
  }
};
template <>
struct getter<caf::detail::type_list<void>> : getter<caf::detail::type_list<>> {};

} // namespace detail

/// Sends the message `xs...` to `other` and waits for the answer: sequential code in a handler.
///
///   caf::expected<int> price = get<int>(self, shop, 1s, item);
///
/// The handler's fiber is suspended, and its executor runs other actors; `self` is busy until the
/// handler is done, so its next messages wait. A request as any other to `other`, to which `self`
/// is the sender. Takes one message, and no memory beside it except for a time-out that is not
/// caf::infinite.
///
/// @param self    the actor whose handler this is, and no other thread's
/// @param timeout a std::chrono duration of any type and length, or caf::infinite
/// @tparam Results the types of the answer: none or void, one, or several, which come as a tuple
/// @returns the answer, or
///   - what `other` answered as an error; sec::request_receiver_down where it has ended;
///   - sec::request_timeout when the time is over, and the answer will be dropped;
///   - sec::unexpected_response, with the content, where the answer has other types;
///   - sec::invalid_argument where `other` is no actor;
///   - the reason of an exit message to `self`, where that ends the actor: exit_reason::kill, or
///     any where the actor has no exit handler of its own. The handler goes on, and should return:
///     the message is handled next. Not seen is one of normal priority among more than 1000
///     messages that wait already;
///   - exit_reason::user_shutdown when the system ends;
///   - errc::would_deadlock where `other` waits in the same way for `self`, itself or by way of
///     others, and none of them has handled the request it was sent. The text names them. Not seen
///     are circles through other processes, through actors that wait otherwise, and through whom a
///     request was delegated to.
/// @throws std::logic_error if the system does not run on basal
/// @throws std::bad_alloc
///
/// In a branch of a pure function it ends the program, as other effects do. The thread of a
/// detached, blocking or scoped actor, or of a broker, sleeps: its exit messages then wait, no
/// circle is found, and the sender that `other` sees is a helper, except for blocking and scoped
/// actors. With `scheduler.policy = testing` other actors handle their messages inside the call,
/// and if none has any left, the time is over.
template <class... Results, class Self, class Handle, class Timeout, class... Ts>
auto get(Self* self, const Handle& other, const Timeout& timeout, Ts&&... xs) {
  static_assert(
    std::derived_from<Self, caf::scheduled_actor> || std::derived_from<Self, caf::blocking_actor>,
    "the first argument of get is the actor whose handler waits");
  return detail::getter<caf::detail::type_list<Results...>>::call(
    self, other, detail::timeout_of(timeout), std::forward<Ts>(xs)...);
}

template <class... Results, class... Signatures, class Handle, class Timeout, class... Ts>
auto get(const caf::typed_actor_pointer<Signatures...>& self, const Handle& other,
         const Timeout& timeout, Ts&&... xs) {
  return get<Results...>(self.internal_ptr(), other, timeout, std::forward<Ts>(xs)...);
}

template <class... Results, class Handle, class Timeout, class... Ts>
auto get(const caf::scoped_actor& self, const Handle& other, const Timeout& timeout, Ts&&... xs) {
  return get<Results...>(self.ptr(), other, timeout, std::forward<Ts>(xs)...);
}

} // namespace basal::actors
