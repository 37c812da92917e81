/// Identifies one timer of the session machine.
///
/// A timer that is set again gets a new identifier, so that a firing that was already on its way when the timer was
/// cancelled is recognised and ignored.
package struct SessionTimer: Sendable, Hashable {
    package enum Purpose: Sendable, Hashable, CaseIterable {
        /// The answer to a creation, bind or recovery request.
        case transport
        /// The next creation attempt.
        case retry
        /// The next recovery attempt.
        case recovery
        /// The end of the time for a recovery.
        case recoveryDeadline
        /// The next line of a stream: keepalive, stalled and reconnect timeout in turn.
        case liveness
        /// The end of a poll.
        case idle
        /// The start of the next poll.
        case polling
        /// The answer to an HTTP control request, or the pause after a failed one.
        case control
        /// The next reverse heartbeat.
        case heartbeat

        /// Whether the timer limits a connection attempt or a request, and so is suspended while an authentication
        /// challenge waits for its answer.
        package var limitsAttempt: Bool {
            switch self {
            case .transport, .idle, .control, .recoveryDeadline: true
            case .retry, .recovery, .liveness, .polling, .heartbeat: false
            }
        }

        /// Whether the timer fires because the session's connection brought nothing for its time.
        package var limitsSilence: Bool {
            switch self {
            case .transport, .idle, .liveness: true
            case .retry, .recovery, .recoveryDeadline, .polling, .control, .heartbeat: false
            }
        }
    }

    package let purpose: Purpose
    /// Distinguishes the timers of one purpose.
    package let generation: UInt64

    package init(purpose: Purpose, generation: UInt64) {
        self.purpose = purpose
        self.generation = generation
    }
}
