#include "options.hpp"

#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include <basal/solver/errors.hpp>

#include "guard.hpp"
#include "portable.hpp"

namespace basal::solver::wasm {

namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value, const char* expected) {
  throw error{errc::bad_option, std::string{name} + " is " + std::string{value} + ", where "
                                  + expected + " was expected"};
}

// The value as a T: a number, or a name of one of the closed sets.
template <class T>
T parsed(std::string_view name, std::string_view value) {
  if constexpr (std::is_same_v<T, std::optional<index_type>>) {
    return parsed<index_type>(name, value);
  } else if constexpr (std::is_same_v<T, method>) {
    if (const auto m = method_from(value))
      return *m;
    refuse(name, value, "the name of a method");
  } else if constexpr (std::is_same_v<T, preconditioning>) {
    if (const auto p = preconditioning_from(value))
      return *p;
    refuse(name, value, "the name of a preconditioner");
  } else {
    T result{};
    const auto [end, code] = detail::number_from(value, result);
    if (code != std::errc{} || end != value.data() + value.size())
      refuse(name, value,
             std::is_floating_point_v<T> ? "a number"
             : std::is_signed_v<T>       ? "an integer of 32 bits"
             : sizeof(T) == 4            ? "an integer from 0 to 2^32 - 1"
                                         : "an integer from 0 to 2^64 - 1");
    return result;
  }
}

template <class T>
void read(T& option, std::string_view name, std::string_view value) {
  option = parsed<T>(name, value);
}

struct row {
  std::string_view name;
  void (*set)(options&, std::string_view name, std::string_view value);
};

// Every option, by the name that JavaScript has for it.
#define BASAL_ROW(NAME, MEMBER)                                                                    \
  row {                                                                                            \
    NAME, [](options& o, std::string_view name, std::string_view value) {                          \
      read(o.MEMBER, name, value);                                                                 \
    }                                                                                              \
  }
constexpr row table[] = {
  BASAL_ROW("method", solving.method),
  BASAL_ROW("preconditioner", solving.preconditioner),
  BASAL_ROW("tolerance", solving.tolerance),
  BASAL_ROW("iterationLimit", solving.iteration_limit),
  BASAL_ROW("entry", solving.entry),
  BASAL_ROW("seed", solving.seed),
  BASAL_ROW("walksPerStep", solving.walks_per_step),
  BASAL_ROW("confidence", solving.confidence),
  BASAL_ROW("factorBytes", solving.factor_bytes),
  BASAL_ROW("restart", restart),
  BASAL_ROW("k", top_k.k),
  BASAL_ROW("topTolerance", top_k.tolerance),
  BASAL_ROW("pushLimit", top_k.push_limit),
};
#undef BASAL_ROW

} // namespace

void options::set(std::string_view name, std::string_view value) {
  for (const auto& row : table) {
    if (row.name == name)
      return row.set(*this, name, value);
  }
  throw error{errc::bad_option, "there is no option '" + std::string{name} + "'"};
}

BASAL_EXPORT(options_new) options* options_new() {
  return guarded<options*>(nullptr, [] { return new options; });
}

BASAL_EXPORT(options_delete) void options_delete(options* o) {
  delete o;
}

BASAL_EXPORT(options_set) int options_set(options* o, const char* name, const char* value) {
  return guarded(0, [&] {
    o->set(name, value);
    return 1;
  });
}

// The name of an option; null beyond the last.
BASAL_EXPORT(option_name) const char* option_name(int i) {
  return i >= 0 && static_cast<std::size_t>(i) < std::size(table) ? table[i].name.data() : nullptr;
}

} // namespace basal::solver::wasm
