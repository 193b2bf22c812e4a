// The precompiled header belongs to a source that uses it; main.cpp cannot, since
// it includes Catch2 differently.
#include "support/catch.hpp"
