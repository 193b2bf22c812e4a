#pragma once

namespace basal::executors {

/// Lets glibc's malloc keep up to 8 MiB that are free at the end of each thread's arena, and take
/// blocks of up to 4 MiB from there.
///
/// By default it gives back to the kernel what exceeds 128 KiB as soon as it is freed, and maps
/// each block of 128 KiB or more by itself. So a message's memory is gone when the next one wants
/// it: actors that send each other vectors of 64 KiB spent a fifth of their CPU time in page
/// faults, and a quicksort by actors an eighth.
///
/// glibc raises both limits itself when a program frees a large block, unless the program or its
/// user has set them (mallopt, MALLOC_TRIM_THRESHOLD_). So this frees one, once in a process, and
/// what was set stays. Other mallocs take and free a block that is never touched. Any thread.
void raise_malloc_thresholds() noexcept;

} // namespace basal::executors
