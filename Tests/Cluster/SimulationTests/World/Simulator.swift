internal import CSimulation
import HeapModule
import Primitives
import TestSupport
@_spi(ExperimentalScheduling) internal import _Concurrency

/// Time, and the order of all that happens, from a seed: runs the jobs of Swift tasks, timers and deliveries of messages one
/// at a time on the calling thread. What is due at the same time happens in a random order.
///
/// Each job belongs to the process that has caused it. A paused process does nothing until it continues.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
final class Simulator: @unchecked Sendable {
    /// The process of readers, callers, the upstream server and the engine.
    static let world = -1

    private enum Work {
        case job(UnownedJob)
        case body(() -> Void)
    }

    private struct Entry: Comparable {
        let due: Int64
        let order: Int
        let process: Int
        let work: Work

        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
        static func < (left: Entry, right: Entry) -> Bool { (left.due, left.order) < (right.due, right.order) }
    }

    /// More work than this at one moment does not end.
    private static let mostWork = 2_000_000

    var generator: SeededGenerator
    private(set) var nanoseconds: Int64 = 1_000_000_000 {
        didSet { simulation_set_time(nanoseconds) }
    }
    private(set) var current = Simulator.world
    private var ready: [Entry] = []
    private var later = Heap<Entry>()
    private var held: [Int: [Entry]] = [:]
    private var paused: Set<Int> = []
    private var order = 0
    /// Whether work at one moment did not end.
    private(set) var isEndless = false

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    var now: Moment { Moment(nanoseconds: nanoseconds) }

    /// Runs a body during which the tasks of this thread belong to the simulation.
    func hold(seed: UInt64, _ body: () -> Void) {
        simulation_begin(seed, Unmanaged.passUnretained(self).toOpaque()) { context, job in
            guard let context, let job else { return }
            let simulator = Unmanaged<Simulator>.fromOpaque(context).takeUnretainedValue()
            simulator.add(.job(unsafeBitCast(job, to: UnownedJob.self)), after: 0, simulator.current)
        }
        simulation_set_time(nanoseconds)
        body()
        simulation_end()
    }

    /// A random time.
    func delay(upTo milliseconds: Int) -> Duration {
        .microseconds(Int.random(in: 0...milliseconds * 1000, using: &generator))
    }

    /// Performs a body as a process.
    func perform(as process: Int, _ body: () -> Void) {
        let previous = current
        current = process
        body()
        current = previous
    }

    /// Performs a body after a delay, as a process; nil: the present one.
    @discardableResult
    func schedule(
        after delay: Duration = .zero,
        as process: Int? = nil,
        _ body: @escaping () -> Void
    ) -> SimulatedTimer {
        let timer = SimulatedTimer(body)
        add(.body { timer.fire() }, after: delay.clampedNanoseconds, process ?? current)
        return timer
    }

    func pause(_ process: Int) { paused.insert(process) }

    func resume(_ process: Int) {
        paused.remove(process)
        ready += held.removeValue(forKey: process) ?? []
    }

    /// Lets time pass.
    func run(for duration: Duration) {
        let end = nanoseconds + duration.clampedNanoseconds
        while !isEndless {
            finishMoment()
            guard let next = later.min, next.due <= end else { break }
            nanoseconds = max(nanoseconds, next.due)
            while let entry = later.min, entry.due <= nanoseconds { ready.append(later.removeMin()) }
        }
        nanoseconds = end
    }

    /// Lets time pass until a condition holds, which is looked at from time to time; at most for a duration.
    func run(upTo limit: Duration, until isDone: () -> Bool) {
        let end = now + limit
        while !isDone(), now < end, !isEndless { run(for: min(.milliseconds(100), end - now)) }
    }

    /// Drops all that is left.
    func clear() {
        (ready, held) = ([], [:])
        later = Heap()
    }

    private func finishMoment() {
        var count = 0
        while !ready.isEmpty, !isEndless {
            let entry = ready.remove(at: Int.random(in: 0..<ready.count, using: &generator))
            guard !paused.contains(entry.process) else {
                held[entry.process, default: []].append(entry)
                continue
            }
            perform(as: entry.process) {
                switch entry.work {
                case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                case .body(let body): body()
                }
            }
            count += 1
            isEndless = count > Self.mostWork
        }
    }

    private func add(_ work: Work, after delay: Int64, _ process: Int) {
        order += 1
        let entry = Entry(due: nanoseconds + max(0, delay), order: order, process: process, work: work)
        if delay <= 0 { ready.append(entry) } else { later.insert(entry) }
    }

    private func sleep(_ job: UnownedJob, _ duration: Duration?) {
        add(.job(job), after: (duration ?? .zero).clampedNanoseconds, current)
    }
}

extension Simulator: TaskExecutor, SchedulingExecutor {
    func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job)), after: 0, current) }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob,
        after delay: C.Duration,
        tolerance _: C.Duration?,
        clock _: C
    ) {
        sleep(UnownedJob(job), delay as? Duration)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob,
        at instant: C.Instant,
        tolerance _: C.Duration?,
        clock: C
    ) {
        sleep(UnownedJob(job), clock.now.duration(to: instant) as? Duration)
    }
}

/// Something that happens once, unless it is cancelled.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
final class SimulatedTimer: @unchecked Sendable {
    private var body: (() -> Void)?

    init(_ body: @escaping () -> Void) { self.body = body }

    func cancel() { body = nil }

    fileprivate func fire() { body.take()?() }
}

/// Messages that arrive in their order.
final class SimulatedChannel {
    private let simulator: Simulator
    private let receiver: Int
    private var messages: [() -> Void] = []
    private var last: Moment = .zero

    init(_ simulator: Simulator, to receiver: Int) { (self.simulator, self.receiver) = (simulator, receiver) }

    /// Delivers a message after a delay, and after those before it.
    func send(after delay: Duration, _ message: @escaping () -> Void) {
        messages.append(message)
        last = max(last, simulator.now + delay)
        simulator.schedule(after: last - simulator.now, as: receiver) { [self] in
            if !messages.isEmpty { messages.removeFirst()() }
        }
    }

    /// Drops the messages under way.
    func cut() { messages = [] }
}
