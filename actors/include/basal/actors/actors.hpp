#pragma once

// The front door: CAF actors on basal, and pure functions in their handlers.

#include <basal/actors/actor_system_config.hpp>
#include <basal/actors/adaptive.hpp>
#include <basal/actors/adaptive_map.hpp>
#include <basal/actors/exec_main.hpp>
#include <basal/actors/get.hpp>
#include <basal/actors/monitor.hpp>
#include <basal/actors/offload.hpp>
#include <basal/actors/run_pure.hpp>
#include <basal/actors/shutdown.hpp>
#include <basal/actors/spawn_adaptive.hpp>
#include <basal/actors/stats.hpp>
