#define _GNU_SOURCE
#include "simulation.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define SWIFT_CALL __attribute__((swiftcall))

// Of the runtime: called, if set, with each job for the threads of the runtime.
typedef SWIFT_CALL void (*original_enqueue)(void *job);
extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, original_enqueue original);

static _Thread_local simulation_enqueue present;
static _Thread_local void *present_context;
static _Thread_local uint64_t state;
static _Thread_local int64_t present_time;

static SWIFT_CALL void enqueue(void *job, original_enqueue original) {
    if (present) {
        present(present_context, job);
    } else {
        original(job);
    }
}

// SplitMix64.
static uint64_t next_number(void) {
    uint64_t number = (state += 0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    return number ^ (number >> 31);
}

static long fill(void *buffer, size_t count) {
    unsigned char *bytes = buffer;
    for (size_t filled = 0; filled < count;) {
        uint64_t number = next_number();
        size_t length = count - filled < sizeof number ? count - filled : sizeof number;
        memcpy(bytes + filled, &number, length);
        filled += length;
    }
    return (long)count;
}

// The two functions below take the place of those of the C library, since a program comes before its libraries. Swift's
// library and its cryptography get random numbers by a system call; its clocks, and those of Foundation, read the time.
// Threads that end call them after a sanitizer has given up its record of the thread, so they are not instrumented.
#define UNINSTRUMENTED __attribute__((disable_sanitizer_instrumentation))

UNINSTRUMENTED long syscall(long number, ...) {
    static long (*original)(long, ...);
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) arguments[index] = va_arg(list, long);
    va_end(list);
    if (present && number == SYS_getrandom) return fill((void *)arguments[0], (size_t)arguments[1]);
    if (!original) original = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return original(
        number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]
    );
}

UNINSTRUMENTED int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*original)(clockid_t, struct timespec *);
    if (!present) {
        if (!original) original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
        return original(clock, time);
    }
    // A time of day in 2023, for the clock that shows it.
    time->tv_sec = present_time / 1000000000 + (clock == CLOCK_REALTIME ? 1700000000 : 0);
    time->tv_nsec = present_time % 1000000000;
    return 0;
}

void simulation_set_time(int64_t nanoseconds) { present_time = nanoseconds; }

void simulation_begin(uint64_t seed, void *context, simulation_enqueue function) {
    swift_task_enqueueGlobal_hook = enqueue;
    state = seed;
    present_context = context;
    present = function;
}

void simulation_end(void) {
    present = NULL;
    present_context = NULL;
}
