// Feeds the files of a folder to the entry point of a fuzzer: replay FOLDER

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{argv[1]}) {
    std::ifstream in{entry.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    // Every prefix, too: a file may end anywhere.
    for (std::size_t size = 0; size <= text.size(); ++size)
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), size);
    ++files;
  }
  std::printf("%d files\n", files);
  return files > 0 ? 0 : 1; // an empty corpus tests nothing
}
