// Catch2 v2 compiles its runner into the file that defines this macro; v3 has it
// in a library and ignores the macro. The PCH must not have included it before.
#define CATCH_CONFIG_RUNNER
#include "support/catch.hpp"

int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
