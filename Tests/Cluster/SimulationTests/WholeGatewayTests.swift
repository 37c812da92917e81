import Foundation
import Testing

/// Whole gateways in one thread, driven by a seed, as `Tests/Cluster/simulation` runs them: `SIMULATION_SEEDS` is a range of
/// seeds such as `0..<2000`, of which one in `SIMULATION_STEP` runs; after `SIMULATION_SECONDS` no further one begins; with
/// `SIMULATION_TRACE` each seed is printed before it runs. Without seeds, or without `SWIFT_DETERMINISTIC_HASHING`, where a
/// run would not follow from its seed, there is none.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] != nil))
struct WholeGatewayTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static var seeds: StrideTo<UInt64> {
        let ends = (environment["SIMULATION_SEEDS"] ?? "").components(separatedBy: "..<").compactMap { UInt64($0) }
        guard ends.count == 2 else { return stride(from: 0, to: 0, by: 1) }
        return stride(from: ends[0], to: ends[1], by: environment["SIMULATION_STEP"].flatMap { Int($0) } ?? 1)
    }

    private static let seconds = environment["SIMULATION_SECONDS"].flatMap { Double($0) }

    @Test
    func readersAndCallersLoseNothingUnderFaults() {
        // What the first simulation of a process makes is there for the others.
        Simulation.run(Schedule(seed: 0, count: 0))
        let start = Date()
        var (count, figures) = (0, Simulation.Figures())
        for seed in Self.seeds {
            if let seconds = Self.seconds, Date().timeIntervalSince(start) > seconds { break }
            if Self.environment["SIMULATION_TRACE"] != nil { note("seed \(seed)") }
            let schedule = Schedule(seed: seed, count: 4)
            let simulation = Simulation.run(schedule)
            count += 1
            figures.add(simulation.figures)
            if !simulation.problems.isEmpty { report(simulation, of: schedule) }
        }
        print("\(count) schedules: \(figures)")
        // A few schedules alone may have neither.
        #expect(count < 10 || figures.resumed > 0 && figures.confirmed > 0)
    }

    private func report(_ simulation: Simulation, of schedule: Schedule) {
        note("seed \(schedule.seed): \(simulation.problems[0])")
        let short = schedule.shortened { !Simulation.problems(of: $0).isEmpty }
        let problems = Simulation.problems(of: short)
        let text = problems.isEmpty ? simulation.problems : problems
        Issue.record("\(short)\n\(text.prefix(12).joined(separator: "\n"))")
    }

    /// Writes a line at once.
    private func note(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}
