#pragma once

namespace basal::executors {

class adaptive_interval;
class awaited_work;
class background_source;
class backstop;
class completion;
class detached_work;
class executor;
class executor_pool;
class fiber;
class injection_queue;
class overflow_report;
class parker;
class spare_fibers;
class stack_pool;
class stack_scan;
class stopwatch;
class thread_heritage;
struct carrier;
struct inbox_node;
struct pool_config;
struct executor_stats;
struct work_item;
struct work_ops;

} // namespace basal::executors
