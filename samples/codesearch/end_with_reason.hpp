#pragma once

#include <caf/error.hpp>
#include <caf/sec.hpp>

#include <exception>

namespace codesearch {

/// Makes an exception that a handler of `self` lets out the reason of its end, which the main
/// thread reports (main.cpp). Otherwise CAF prints it to stdout, among the results.
template <class Actor>
void end_with_reason(Actor* self) {
  self->set_exception_handler([](std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& e) {
      return caf::make_error(caf::sec::runtime_error, e.what());
    } catch (...) {
      return caf::make_error(caf::sec::runtime_error);
    }
  });
}

} // namespace codesearch
