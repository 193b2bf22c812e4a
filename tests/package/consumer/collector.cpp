#include <cstdio>

#include <gc/gc.h>

#ifndef GC_THREADS
#  error "BdwGC::BdwGC must define GC_THREADS"
#endif

int main() {
  GC_INIT();
  void* object = GC_MALLOC(40);
  std::printf("collector %u\n", GC_get_version());
  return GC_base(object) == object ? 0 : 1;
}
