// Code that must not compile: the test looks for the sentence that the compiler says. With MISUSE 0
// it does compile.
#include <basal/actors/monitor.hpp>
#include <basal/actors/real.hpp>
#include <basal/remote/wire.hpp>

#include <caf/actor.hpp>
#include <caf/atom.hpp>
#include <caf/group.hpp>
#include <caf/message.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/optional.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_actor.hpp>
#include <caf/unit.hpp>
#include <caf/uri.hpp>
#include <caf/variant.hpp>

#include <array>
#include <chrono>
#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#if MISUSE == 3
using number = float;
#else
using number = basal::actors::real;
#endif

struct inner {
  std::uint32_t count = 0;
  number value{};
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, inner& x) {
  return f(caf::meta::type_name("inner"), x.count, x.value);
}

struct outer {
  std::map<std::string, std::vector<inner>> all;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, outer& x) {
  return f(caf::meta::type_name("outer"), x.all);
}

using listener = caf::typed_actor<caf::reacts_to<outer>>;

/// CAF's old way, which it prefers to an inspect.
struct archived {
  double value = 0;
};

template <class Processor>
void serialize(Processor& p, archived& x, unsigned) {
  p& x.value;
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, archived&) {
  return f();
}

enum class colour : std::uint8_t { red, green };

#if MISUSE == 0
using of_caf
  = caf::typed_actor<caf::reacts_to<caf::error, caf::message, caf::down_msg, caf::exit_msg>,
                     caf::reacts_to<caf::node_id, caf::group, caf::uri, caf::unit_t>,
                     caf::reacts_to<caf::strong_actor_ptr, caf::actor_addr, caf::duration>>;
using point_of_time = std::chrono::system_clock::time_point;
using subject
  = caf::typed_actor<caf::replies_to<int, std::string>::with<caf::optional<std::string>>,
                     caf::replies_to<std::tuple<int, bool>, std::array<int, 3>>::with<listener>,
                     caf::reacts_to<std::chrono::milliseconds, point_of_time, colour>,
                     caf::reacts_to<caf::variant<int, std::u16string>, std::vector<bool>, of_caf>,
                     caf::reacts_to<caf::get_atom, caf::actor, std::vector<std::string>>>;
#elif MISUSE == 1
using subject = caf::typed_actor<caf::replies_to<int>::with<int>, caf::reacts_to<double>>;
#elif MISUSE == 2
using subject = caf::typed_actor<caf::replies_to<int>::with<std::vector<std::pair<int, double>>>>;
#elif MISUSE == 3
using subject = caf::typed_actor<caf::reacts_to<caf::subscribe_atom, listener>>;
#elif MISUSE == 4
using subject = caf::actor;
#elif MISUSE == 5
using subject = caf::typed_actor<caf::reacts_to<std::vector<std::chrono::duration<double>>>>;
#elif MISUSE == 6
using subject = caf::typed_actor<caf::reacts_to<
  std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<float, std::milli>>>>;
#elif MISUSE == 7
using subject = caf::typed_actor<caf::replies_to<int>::with<std::array<archived, 2>>>;
#elif MISUSE == 8
using subject = caf::typed_actor<caf::reacts_to<std::complex<double>>>;
#endif

void check() {
  basal::remote::check_interface<subject>();
  basal::remote::check_interface<basal::actors::stats_monitor>();
}
