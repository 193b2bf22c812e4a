// Opens its input as a journal: whatever the file holds, there is a typed error and the file is as
// it was, or a journal that can be written on and read again.
//
// libFuzzer drives it where BASAL_BUILD_FUZZERS is on (clang); support/replay.cpp feeds it the
// corpus in every build.

#include <basal/cluster/journal.hpp>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace basal::cluster;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

const journal_identity identity{
  .function = "square", .version = 1, .signature = 7, .items = 3, .content = {1, 2}};

std::vector<std::string> records_of(const std::string& path, bool append) {
  std::vector<std::string> result;
  journal j{path, identity, [&](std::string_view record) { result.emplace_back(record); }};
  if (append) {
    j.append("one more");
    j.sync();
  }
  return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("journal", MFD_CLOEXEC);
  require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
  const auto path = "/proc/self/fd/" + std::to_string(file);
  try {
    auto records = records_of(path, true);
    records.emplace_back("one more");
    require(records_of(path, false) == records);
  } catch (const error& e) {
    struct stat status {};
    require(fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) == size);
    require(e.code() != errc::journal_failed);
  }
  close(file);
  return 0;
}
