// Tells ThreadSanitizer of the order that a contended Mutex of Swift's Synchronization module makes.
//
// The fast paths of the mutex are inlined into instrumented code, so their atomics are seen. The slow paths are not:
// they live in libswiftSynchronization.so, which is not instrumented, and without them every contended lock looks like
// a race. Loaded by LD_PRELOAD this library stands before them. Both ends use the address of the lock word, under which
// the fast paths are known as well.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// _MutexHandle._lockSlow(UInt32), _tryLockSlow() -> Bool and _unlockSlow(): self travels in the context register.
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Missing in processes that are not instrumented.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock_slow(uint32_t owner, SELF) __asm__(LOCK_SLOW);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK_SLOW);

static SWIFT void (*real_lock_slow)(uint32_t owner, SELF);
static SWIFT bool (*real_try_lock_slow)(SELF);
static SWIFT void (*real_unlock_slow)(SELF);

__attribute__((constructor)) static void look_up(void) {
    *(void **)&real_lock_slow = dlsym(RTLD_NEXT, LOCK_SLOW);
    *(void **)&real_try_lock_slow = dlsym(RTLD_NEXT, TRY_LOCK_SLOW);
    *(void **)&real_unlock_slow = dlsym(RTLD_NEXT, UNLOCK_SLOW);
}

SWIFT void lock_slow(uint32_t owner, SELF) {
    real_lock_slow(owner, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) {
    bool is_locked = real_try_lock_slow(self);
    if (is_locked && __tsan_acquire) __tsan_acquire(self);
    return is_locked;
}

SWIFT void unlock_slow(SELF) {
    if (__tsan_release) __tsan_release(self);
    real_unlock_slow(self);
}
