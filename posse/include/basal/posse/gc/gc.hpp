#pragma once

// The front door of the shared heap. Programs link basal::posse_gc.

#include <basal/posse/gc/account.hpp>
#include <basal/posse/gc/handle.hpp>
#include <basal/posse/gc/heap.hpp>
#include <basal/posse/gc/pointer_free.hpp>
#include <basal/posse/gc/ptr.hpp>
#include <basal/posse/gc/string.hpp>
#include <basal/posse/gc/vector.hpp>
