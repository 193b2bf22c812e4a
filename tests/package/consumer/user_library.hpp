#pragma once

#include <basal/posse/runtime.hpp>

/// fib(n) in branches; at n < 0 the error that basal throws where a computation is cancelled.
long library_fib(basal::posse::runtime& runtime, int n);
