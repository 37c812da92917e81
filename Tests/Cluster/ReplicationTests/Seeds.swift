import Foundation

/// The seeds of a test with random schedules. The environment variable `CLUSTER_SEEDS` sets others for long runs: their number,
/// or a range such as `24..<200`.
func seeds(_ count: UInt64) -> Range<UInt64> {
    let text = ProcessInfo.processInfo.environment["CLUSTER_SEEDS"] ?? ""
    let bounds = text.components(separatedBy: "..<").compactMap { UInt64($0) }
    return switch bounds.count {
    case 2 where bounds[0] <= bounds[1]: bounds[0]..<bounds[1]
    case 1: 0..<bounds[0]
    default: 0..<count
    }
}
