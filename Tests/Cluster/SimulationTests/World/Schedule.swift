import TestSupport

/// The faults of one run, from a seed.
struct Schedule: CustomStringConvertible {
    enum Fault: CaseIterable {
        /// A process is killed; another one starts.
        case kill
        /// A process is stopped for a time, and continues.
        case pause
        /// A process leaves the cluster and ends; another one starts.
        case leave
        /// One more process starts.
        case join
        /// A process has no connection to the engine.
        case engineCut
        /// The engine is away.
        case engineStop
        /// The engine returns with an older copy of the log.
        case engineRestore
        /// The engine returns with an empty log.
        case engineEmpty
        /// The engine loses its newest frames while it runs, and the log grows again differently.
        case engineLoseTail
        /// The engine creates the log anew while it runs.
        case engineRecreate
        /// The engine shows some processes other frames than those that were appended.
        case engineLie
        /// Some processes cannot read a frame in the middle of the log.
        case engineMissing
        /// The engine appends frames again that it has.
        case engineRepeat
        /// The engine delivers frames more than once.
        case engineEcho
        /// A server that is behind returns the frames that some processes fetch, which have lost their connections.
        case engineStale
        /// A process has no connection to the upstream server.
        case upstreamCut
        /// The upstream connections of a process break once.
        case upstreamBreak
    }

    struct Step: CustomStringConvertible {
        /// The time before it.
        let pause: Int
        let fault: Fault
        /// Chooses the process.
        let choice: Int
        /// How long it lasts, in milliseconds.
        let length: Int

        var description: String { "after \(pause) ms: \(fault) \(choice) for \(length) ms" }
    }

    let seed: UInt64
    var steps: [Step]

    /// The schedule of a seed: up to `count` faults.
    init(seed: UInt64, count: Int) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed &+ 4711)
        // How long faults last, at most.
        let length = [200, 1500, 5000][Int.random(in: 0..<3, using: &generator)]
        steps = (0..<Int.random(in: min(1, count)...count, using: &generator)).map { _ in
            Step(
                pause: Int.random(in: 20...1500, using: &generator),
                fault: Fault.allCases.randomElement(using: &generator) ?? .kill,
                choice: Int.random(in: 0..<12, using: &generator),
                length: Int.random(in: 20...length, using: &generator)
            )
        }
    }

    var description: String { "seed \(seed): " + steps.map(\.description).joined(separator: "; ") }

    /// The schedule without the faults that a failure does not need.
    func shortened(_ fails: (Schedule) -> Bool) -> Schedule {
        var short = self
        // Without the last faults, all that precedes them is the same; without another one, the run is a different one.
        for count in steps.indices {
            short.steps = Array(steps.prefix(count))
            if fails(short) { break }
            short = self
        }
        for index in short.steps.indices.reversed() {
            var shorter = short
            shorter.steps.remove(at: index)
            if fails(shorter) { short = shorter }
        }
        return short
    }
}
