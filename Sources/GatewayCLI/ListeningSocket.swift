internal import FoundationEssentials

/// An address that a process accepts connections on.
struct ListeningSocket: Equatable {
    /// An IPv4 address, or an IPv6 address without brackets.
    let host: String
    let port: Int

    /// How many descriptors and bytes of a table are read: of a process with many connections, a health check would take too long. A
    /// program listens before it has connections, and the system lists the sockets that listen first.
    private static let (mostDescriptors, mostBytes) = (1_000, 1 << 20)

    /// The addresses that a process listens on; empty if the system does not show them to this user.
    static func all(of pid: Int) -> [ListeningSocket] {
        let files = FileManager.default
        let folder = "/proc/\(pid)"
        let descriptors = ((try? files.contentsOfDirectory(atPath: "\(folder)/fd")) ?? []).compactMap { Int($0) }
        let inodes = Set(
            descriptors.sorted().prefix(mostDescriptors).compactMap { descriptor -> String? in
                let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/fd/\(descriptor)")
                guard let target, target.hasPrefix("socket:["), target.hasSuffix("]") else { return nil }
                return String(target.dropFirst("socket:[".count).dropLast())
            }
        )
        return ["tcp", "tcp6"].flatMap { table -> [ListeningSocket] in
            let data = files.contents(atPath: "\(folder)/net/\(table)") ?? Data()
            return String(decoding: data.prefix(mostBytes), as: UTF8.self).split(separator: "\n").compactMap { line in
                entry(String(line)).flatMap { inodes.contains($0.inode) ? $0.socket : nil }
            }
        }
    }

    /// The listening socket in a line of `/proc/PID/net/tcp` or `tcp6`, with its inode; nil for another line.
    static func entry(_ line: String) -> (socket: ListeningSocket, inode: String)? {
        // Number, local and remote address, state (0A: listening), queues, timer, retransmits, user, timeout, inode.
        let columns = line.split(separator: " ")
        guard columns.count > 9, columns[3] == "0A" else { return nil }
        let parts = columns[1].split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1], radix: 16), let host = host(String(parts[0])) else {
            return nil
        }
        return (ListeningSocket(host: host, port: port), String(columns[9]))
    }

    /// An address from its words of 32 bits, each of which is written as a number of this machine.
    private static func host(_ text: String) -> String? {
        let digits = Array(text)
        guard digits.count == 8 || digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 8) {
            guard let word = UInt32(String(digits[start..<start + 8]), radix: 16) else { return nil }
            withUnsafeBytes(of: word) { bytes += $0 }
        }
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        if bytes.allSatisfy({ $0 == 0 }) { return "::" }
        return stride(from: 0, to: 16, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }
}
