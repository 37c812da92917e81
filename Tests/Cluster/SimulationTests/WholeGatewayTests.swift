import Foundation
import Testing

/// Whole gateways in one thread, driven by a seed, as `Tests/Cluster/simulation` runs them: `SIMULATION_SEEDS` is a range of
/// seeds such as `0..<2000`; after `SIMULATION_SECONDS` no further one begins. Without `SWIFT_DETERMINISTIC_HASHING` a run would
/// not follow from its seed, so there is none.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] != nil))
struct WholeGatewayTests {
    private static var seeds: Range<UInt64> {
        let parts = (ProcessInfo.processInfo.environment["SIMULATION_SEEDS"] ?? "0..<1").components(separatedBy: "..<")
        guard parts.count == 2, let first = UInt64(parts[0]), let end = UInt64(parts[1]), first <= end else {
            return 0..<0
        }
        return first..<end
    }

    private static let seconds = ProcessInfo.processInfo.environment["SIMULATION_SECONDS"].flatMap { Double($0) }

    @Test
    func readersAndCallersLoseNothingUnderFaults() {
        // What the first simulation of a process makes is there for the others.
        Simulation.run(Schedule(seed: 0, count: 0))
        let start = Date()
        var (count, figures) = (0, (resumed: 0, gaps: 0, confirmed: 0, refused: 0))
        for seed in Self.seeds {
            if let seconds = Self.seconds, Date().timeIntervalSince(start) > seconds { break }
            let schedule = Schedule(seed: seed, count: 8)
            let simulation = Simulation.run(schedule)
            count += 1
            let present = simulation.figures
            figures = (
                figures.resumed + present.resumed, figures.gaps + present.gaps, figures.confirmed + present.confirmed,
                figures.refused + present.refused
            )
            guard !simulation.problems.isEmpty else { continue }
            let short = schedule.shortened { !Simulation.problems(of: $0).isEmpty }
            let problems = Simulation.problems(of: short)
            let text = problems.isEmpty ? simulation.problems : problems
            Issue.record("\(short)\n\(text.prefix(12).joined(separator: "\n"))")
        }
        print(
            "\(count) schedules: \(figures.resumed) resumed, \(figures.gaps) gaps, \(figures.confirmed) resources, "
                + "\(figures.refused) refused by a quota"
        )
        #expect(count == 0 || figures.resumed > 0 && figures.confirmed > 0)
    }
}
