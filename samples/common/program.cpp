#include "program.hpp"

#include <cstdio>
#include <string>

#include <basal/executors/report.hpp>

#include <fcntl.h>
#include <unistd.h>

#include "printable.hpp"

namespace samples {

void complain(std::string_view program, std::string_view message) {
  basal::executors::report(basal::executors::report_level::error, program, printable(message));
}

void tell(std::string_view program, std::string_view message) {
  basal::executors::report(basal::executors::report_level::info, program, message);
}

void fill_standard_descriptors() noexcept {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDONLY); // the lowest number that is free
  } while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) {
    ::close(fd);
  }
}

bool results_are_out(std::string_view program) {
  // The second one remembers earlier writes.
  const bool good = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!good) {
    complain(program, "not all results could be written to standard output; is it open, and is "
                      "there space where it goes?");
  }
  return good;
}

} // namespace samples
