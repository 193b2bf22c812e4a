/// basal::cluster: pure functions over many processes.
#pragma once

#include <basal/cluster/codec.hpp>
#include <basal/cluster/coordinator.hpp>
#include <basal/cluster/errors.hpp>
#include <basal/cluster/journal.hpp>
#include <basal/cluster/manifest.hpp>
#include <basal/cluster/map.hpp>
#include <basal/cluster/registry.hpp>
#include <basal/cluster/serve.hpp>
#include <basal/cluster/termination_signals.hpp>
#include <basal/cluster/work_source.hpp>
