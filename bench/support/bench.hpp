/// The header that a benchmark file includes. See bench/README.md for an example.
#pragma once

#include "bench/support/results.hpp"
#include "bench/support/suite.hpp"
