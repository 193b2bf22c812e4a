#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

#include <basal/executors/detail/assert.hpp>
#include <basal/posse/detail/near_function.hpp>
#include <basal/posse/detail/range_site.hpp>
#include <basal/posse/fwd.hpp>
#include <basal/posse/member.hpp>

namespace basal::posse::detail {

/// A place in the program that has ranges: one for each type of body, which does their elements,
/// and what is known of these. All that divides ranges goes by it, whatever the type, and so is
/// compiled once and not for each loop. Any thread.
///
/// A body is called as `body(member&, first, last)` and does the elements [first, last).
///
/// @tparam Result what it returns: nothing, or a std::size_t: `last`, or the element at which all
///                ends early
template <class Result>
struct range_place {
  /// Calls the body at an address, or at that of a copy.
  Result (*const call)(member& m, void* body, std::size_t first, std::size_t last);

  const std::size_t bytes; ///< of a body that each thief has a copy of, see near_function; 0: none

  range_sites sites{};

  /// The elements of one step.
  /// @returns the first that is not done
  std::size_t step(member& m, void* body, std::size_t first, std::size_t last) const {
    if constexpr (std::is_void_v<Result>) {
      call(m, body, first, last);
      return last;
    } else {
      return call(m, body, first, last);
    }
  }
};

/// How a range_place calls a type of body. Not inlined: a loop over elements would share the
/// registers with all that happens between steps, and g++ then moves vectors to and from the stack
/// at each turn (a sixth of a stencil's time). A call is 1 to 2 ns of a step's 1 us. Nor does it
/// keep `last` to return it, if that is known: with one register more, a filter took a third less
/// time.
template <class Body, class Result>
[[gnu::noinline]] Result call_body(member& m, void* body, std::size_t first, std::size_t last) {
  auto& of_type = *static_cast<Body*>(body);
  [[maybe_unused]] const auto* const youngest = m.youngest_;
  if constexpr (std::is_void_v<Result>) {
    of_type(m, first, last);
    BASAL_ASSERT(m.youngest_ == youngest, "a body forks with the member that it was called with");
  } else {
    const std::size_t reached = of_type(m, first, last);
    BASAL_ASSERT(m.youngest_ == youngest, "a body forks with the member that it was called with");
    BASAL_ASSERT(first <= reached && reached <= last,
                 "a body returns an element of its part, or the part's end");
    return reached;
  }
}

/// The address that call_body() is given.
template <class Body>
void* address_of(Body& body) noexcept {
  return const_cast<std::remove_const_t<Body>*>(std::addressof(body));
}

/// Bytes of a type of body that each thief has a copy of; 0: none has.
template <class Body>
inline constexpr std::size_t bytes_near
  = is_copied_near<Body, std::size_t, std::size_t>() ? sizeof(Body) : 0;

/// For a thief: the body at an address, or a copy of it.
class near_body {
public:
  near_body(void* body, std::size_t bytes) noexcept
    : body_(bytes == 0 ? body : std::memcpy(copy_, body, bytes)) {
  }

  near_body(const near_body&) = delete;
  near_body& operator=(const near_body&) = delete;

  void* get() const noexcept {
    return body_;
  }

private:
  alignas(most_bytes_near) std::byte copy_[most_bytes_near];
  void* body_;
};

} // namespace basal::posse::detail
