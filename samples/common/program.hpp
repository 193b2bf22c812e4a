#pragma once

#include <exception>
#include <string_view>

namespace samples {

/// Logs an error as one line that is fit for a terminal: messages quote what the user typed or
/// what a file holds. It is "PROGRAM: MESSAGE" on stderr unless the log goes elsewhere. Any thread.
void complain(std::string_view program, std::string_view message);

/// Logs how things go, as it stands.
void tell(std::string_view program, std::string_view message);

/// Opens /dev/null in place of those of descriptors 0 to 2 that are closed, before another file
/// gets their numbers. It opens them for reading: standard input is at its end then, and writing
/// fails as it does without them. Call it before all else.
void fill_standard_descriptors() noexcept;

/// Writes what stdout still buffers. False, with a message, if some of what the program printed
/// did not get out: then its results are lost.
[[nodiscard]] bool results_are_out(std::string_view program);

/// The body of main() around `run`, which returns an exit status: `failure` instead, with a
/// message, if `run` throws, or if it returns 0 and not all results got out.
template <class Run>
int run_program(std::string_view program, int failure, Run&& run) {
  fill_standard_descriptors();
  int status = failure;
  try {
    status = run();
  } catch (const std::exception& e) {
    complain(program, e.what());
  }
  return results_are_out(program) || status != 0 ? status : failure;
}

} // namespace samples
