#pragma once

// Boehm's collector, with nothing of pthread.h redirected: our threads register
// themselves.
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>
#include <gc/gc_mark.h>
