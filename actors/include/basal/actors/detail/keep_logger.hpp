#pragma once

#include <caf/fwd.hpp>

namespace basal::actors::detail {

/// To be called before the constructor of `system` throws: that destroys a mutex and then the
/// logger, whose destructor locks that mutex (0.17.6). So the loggers of systems that failed are
/// kept. They have no thread yet and no file. Any thread.
void keep_logger(caf::actor_system& system);

} // namespace basal::actors::detail
