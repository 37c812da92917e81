internal import FoundationEssentials
internal import Glibc

/// Figures of this process from the operating system; 0 for those that it does not provide.
struct ProcessFigures: Sendable {
    /// Processor time, in seconds.
    let cpuSeconds: Double
    /// Memory in RAM, in bytes.
    let residentBytes: UInt64
    /// Address space, in bytes.
    let virtualBytes: UInt64
    let openFiles: Int
    /// The limit of open descriptors.
    let maxFiles: UInt64

    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        cpuSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        let pages = Self.text(of: "/proc/self/statm").split(separator: " ").map { UInt64($0) ?? 0 }
        let pageSize = UInt64(clamping: sysconf(Int32(_SC_PAGESIZE)))
        virtualBytes = pages.count > 1 ? pages[0] &* pageSize : 0
        residentBytes = pages.count > 1 ? pages[1] &* pageSize : 0
        openFiles = Self.countEntries(of: "/proc/self/fd")
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        maxFiles = UInt64(limit.rlim_cur)
    }

    /// When the process started, in seconds since 1970; it does not change.
    static let startedAt: Double = {
        // The fields follow the process name, which is in parentheses and may itself contain parentheses.
        let fields = text(of: "/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
        let ticks = fields.count > 19 ? Double(fields[19]) ?? 0 : 0
        let boot = text(of: "/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        let bootedAt = boot.flatMap { Double($0.dropFirst(6)) } ?? 0
        return bootedAt + ticks / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    }()

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func text(of path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    private static func countEntries(of path: String) -> Int {
        let entries = try? FileManager.default.contentsOfDirectory(atPath: path)
        // One of the descriptors is that of this listing.
        return max(0, (entries?.count ?? 0) - 1)
    }
}
