/// The memory that this process may use.
package enum MachineMemory {
    /// The memory of the machine in bytes, reduced to the limits of the control groups of the process.
    package static let available: Int = {
        let groups = ProcessorCount.text("/proc/self/cgroup") ?? ""
        let limits = ProcessorCount.quotaFiles(of: groups, named: "memory.max").compactMap(ProcessorCount.text)
        return limits.compactMap(bytes).reduce(total(ProcessorCount.text("/proc/meminfo") ?? ""), min)
    }()

    /// The memory of the machine in bytes.
    ///
    /// - Parameter text: The text of `/proc/meminfo`, with a line `MemTotal: N kB`; 1 GiB for any other text.
    static func total(_ text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
        let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return kilobytes.map { $0 * 1024 } ?? 1 << 30
    }

    /// The bytes of a limit; nil if there is none.
    ///
    /// - Parameter limit: The text of `memory.max`: `max`, or a number of bytes.
    static func bytes(_ limit: String) -> Int? { limit.split(separator: "\n").first.flatMap { Int($0) } }
}
