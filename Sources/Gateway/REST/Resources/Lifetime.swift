internal import SessionCore
internal import Synchronization

/// What health tells of the process itself.
final class Lifetime: Sendable {
    /// When it began.
    let startedAt: Moment
    private let stopping = Atomic<Bool>(false)

    /// A process that begins now.
    init(startedAt: Moment) { self.startedAt = startedAt }

    /// Whether the stop has begun.
    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// The stop begins.
    func stop() { stopping.store(true, ordering: .relaxed) }
}
