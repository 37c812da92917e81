import Foundation

/// The seeds of a test with random schedules. The environment variable `CLUSTER_SEEDS` sets another number of them, for long
/// runs.
func seeds(_ count: UInt64) -> Range<UInt64> {
    0..<(ProcessInfo.processInfo.environment["CLUSTER_SEEDS"].flatMap { UInt64($0) } ?? count)
}
