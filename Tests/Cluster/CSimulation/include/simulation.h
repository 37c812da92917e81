#pragma once
#include <stdint.h>

/// Called with a job that a task of the present thread wants to have run.
typedef void (*simulation_enqueue)(void *context, void *job);

/// From now on, the jobs of Swift tasks that this thread enqueues go to a function instead of the threads of the runtime,
/// its random numbers follow from a seed, and its clocks show the time of `simulation_set_time`. Other threads are not
/// affected.
void simulation_begin(uint64_t seed, void *context, simulation_enqueue enqueue);

/// Sets the clocks of this thread, in nanoseconds.
void simulation_set_time(int64_t nanoseconds);

/// Ends the effect of `simulation_begin` on this thread.
void simulation_end(void);
