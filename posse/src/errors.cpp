#include <basal/posse/errors.hpp>

namespace basal::posse {

cancelled::cancelled() : std::runtime_error("basal: the computation was cancelled") {
}

runtime_stopped::runtime_stopped()
  : std::runtime_error("basal: the runtime has stopped and takes no more "
                       "computations") {
}

} // namespace basal::posse
