#include <cstdio>
#include <dlfcn.h>

// usage: plugin_host LIBRARY
// A program that knows nothing of basal and loads a library that does.
int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  auto plugin_fib = reinterpret_cast<long (*)(int)>(dlsym(library, "plugin_fib"));
  const long answer = plugin_fib(25);
  std::printf("fib(25) = %ld\n", answer);
  return answer == 75025 ? 0 : 1;
}
