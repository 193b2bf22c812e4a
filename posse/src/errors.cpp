#include <basal/posse/errors.hpp>

namespace basal::posse {

namespace {

const char* sentence(cancel_reason why) noexcept {
  switch (why) {
  case cancel_reason::none:
  case cancel_reason::runtime_stops:
    break;
  case cancel_reason::stop_requested:
    return "basal: the computation was cancelled: its stop token asked for it";
  case cancel_reason::deadline:
    return "basal: the computation was cancelled: its deadline has passed";
  case cancel_reason::owner_killed:
    return "basal: the computation was cancelled: its actor was killed";
  case cancel_reason::not_needed:
    return "basal: the branch was cancelled: the one before it has failed";
  }
  return "basal: the computation was cancelled: its runtime stops";
}

} // namespace

cancelled::cancelled(cancel_reason why) : std::runtime_error(sentence(why)), reason_(why) {
}

runtime_stopped::runtime_stopped()
  : std::runtime_error("basal: the runtime has stopped and takes no more "
                       "computations") {
}

} // namespace basal::posse
