internal import Glibc

/// The processors that this process may use.
enum ProcessorCount {
    /// The processors that the scheduler may run the process on, reduced to the CPU quota of its control groups; at
    /// least one. A quota of one and a half processors counts as one.
    static func available() -> Int {
        let quotas = quotaFiles(of: text("/proc/self/cgroup") ?? "").compactMap(text).compactMap(processors)
        return max(1, quotas.reduce(allowed(text("/proc/self/status") ?? ""), min))
    }

    /// The processors in a mask.
    ///
    /// - Parameter status: The text of `/proc/self/status`, with a line `Cpus_allowed:` and hexadecimal digits.
    static func allowed(_ status: String) -> Int {
        let name = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return 1 }
        return line.dropFirst(name.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    }

    /// The files with the quotas of a process's control group and of those around it, version 2.
    ///
    /// - Parameters:
    ///   - groups: The text of `/proc/self/cgroup`: a line `0::/path` for version 2.
    ///   - name: The name of the files.
    static func quotaFiles(of groups: String, named name: String = "cpu.max") -> [String] {
        guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return [] }
        var path = line.dropFirst("0::/".count)
        var files: [String] = []
        while true {
            files.append("/sys/fs/cgroup/" + (path.isEmpty ? "" : path + "/") + name)
            guard !path.isEmpty else { return files }
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        }
    }

    /// The whole processors of a quota, at least one; nil if there is no limit, or for any other text.
    ///
    /// - Parameter quota: The text of `cpu.max`: `max 100000`, or the microseconds of CPU in a period and the period.
    static func processors(_ quota: String) -> Int? {
        let fields = quota.split { $0 == " " || $0 == "\n" }
        guard fields.count == 2, let used = Int(fields[0]), let period = Int(fields[1]), used > 0, period > 0 else {
            return nil
        }
        return max(1, used / period)
    }

    static func text(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
