/// The timers that are running, one at most for each purpose.
struct TimerTable {
    private var running: [TimerID.Purpose: TimerID] = [:]
    private var lastGeneration: UInt64 = 0

    /// Sets a timer; one of the same purpose that is running is replaced.
    mutating func start(_ purpose: TimerID.Purpose, after delay: Duration) -> [SessionAction] {
        var actions = stop(purpose)
        lastGeneration &+= 1
        let timer = TimerID(purpose: purpose, generation: lastGeneration)
        running[purpose] = timer
        actions.append(.scheduleTimer(timer, after: delay))
        return actions
    }

    /// Forgets a timer, if it is running.
    mutating func stop(_ purpose: TimerID.Purpose) -> [SessionAction] {
        running.removeValue(forKey: purpose).map { [.cancelTimer($0)] } ?? []
    }

    /// Whether a timer that fired is still wanted; it is no longer running then.
    mutating func fired(_ timer: TimerID) -> Bool {
        guard running[timer.purpose] == timer else { return false }
        running[timer.purpose] = nil
        return true
    }

    /// Whether a timer is running.
    func isRunning(_ purpose: TimerID.Purpose) -> Bool { running[purpose] != nil }
}
