public import NIOCore
internal import NIOPosix

/// The network threads for connections and timers. Several clients can share them.
public struct EventLoops: Sendable {
    package let group: any EventLoopGroup

    /// Wraps a group that the caller owns and shuts down after the last client.
    public init(_ group: any EventLoopGroup) { self.group = group }

    /// The threads of the process: one for each core, started on first use, never stopped.
    public static let shared = EventLoops(MultiThreadedEventLoopGroup.singleton)

    package func next() -> any EventLoop { group.next() }

    /// One of the threads alone.
    package func one() -> EventLoops { EventLoops(next()) }

    /// One of the threads of a part of them alone. Each part has half of the threads, at least one; the parts follow one
    /// another, so that two parts share no thread if there are two threads or more. The first turns of further parts are on
    /// different threads as long as there are enough.
    ///
    /// - Parameters:
    ///   - part: The index of the part.
    ///   - parts: The number of parts; 1: all threads are one part.
    ///   - turn: Counts the calls for the part.
    package func one(ofPart part: Int, among parts: Int, turn: Int) -> EventLoops {
        let loops = Array(group.makeIterator())
        guard parts > 1, loops.count > 1 else { return one() }
        let size = max(1, loops.count / 2)
        let start = part * size
        // If the parts repeat, each round of them begins with the next thread.
        let shift = loops.count.isMultiple(of: size) ? start / loops.count : 0
        return EventLoops(loops[(start + (turn + shift) % size) % loops.count])
    }

    /// Calls the body on each of the threads, with the index of the thread, once the thread comes round.
    package func onEach(_ body: @escaping @Sendable (Int) -> Void) {
        for (index, loop) in group.makeIterator().enumerated() { loop.execute { body(index) } }
    }

    package var count: Int { group.makeIterator().reduce(0) { count, _ in count + 1 } }

    /// Calls the body once after a delay, on one of the threads; the returned closure cancels the call.
    package func schedule(
        afterNanoseconds delay: Int64,
        _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let scheduled = next().scheduleTask(in: .nanoseconds(delay), body)
        return { scheduled.cancel() }
    }

    /// Runs tasks on one of the threads, between the events of its connections and timers.
    package func taskExecutor() -> any TaskExecutor { LoopExecutor(loop: next()) }
}

/// Runs the jobs of tasks on a network thread.
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
