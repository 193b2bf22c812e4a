#pragma once

// The front door: everything needed to declare and call fork/merge functions.

#include <basal/posse/algorithm.hpp>
#include <basal/posse/call_options.hpp>
#include <basal/posse/config.hpp>
#include <basal/posse/effects.hpp>
#include <basal/posse/errors.hpp>
#include <basal/posse/member.hpp>
#include <basal/posse/pure.hpp>
#include <basal/posse/runtime.hpp>
#include <basal/posse/scratch.hpp>
#include <basal/posse/stats.hpp>
#include <basal/posse/task_group.hpp>
