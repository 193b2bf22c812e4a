#include <basal/executors/detail/demangled.hpp>

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace basal::detail {

std::string demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text{
    abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free};
  return status == 0 ? text.get() : mangled;
}

} // namespace basal::detail
