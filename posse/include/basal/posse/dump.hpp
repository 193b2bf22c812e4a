#pragma once

#include <chrono>
#include <span>
#include <string>

#include <basal/executors/fwd.hpp>

namespace basal::posse {

/// executors::dump, which says what it takes, with a paragraph on the computations that run on
/// these pools: each as a tree, a line a member, with the delegates that took its branches below
/// it. A line says where the member is and what it does. Computations that wait in one piece for
/// the same event are told together.
///
/// Executors answer one after the other, so a member that began or ended in the meantime may be
/// missing, or stand apart from its victim. Delegates that have not begun are seen where their
/// victim is suspended: a running one may be in the middle of a fork. Of a fiber the innermost 4
/// members are shown, of a member 10 delegates, found among its youngest 64 forks. Any thread.
std::string dump(std::span<executors::executor_pool* const> pools,
                 std::chrono::milliseconds patience = std::chrono::milliseconds{1000});

} // namespace basal::posse
