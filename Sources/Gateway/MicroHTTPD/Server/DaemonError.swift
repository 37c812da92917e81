internal import Glibc

/// The reason for which a daemon could not be started or changed.
package enum DaemonError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address is invalid, or not one of this machine.
    case badAddress(String)
    /// Listening failed; the text of the system, for example "Address already in use".
    case cannotListen(String)
    /// A resource of the system was refused: an epoll set, a thread.
    case systemRefused(String)
    /// The process may open fewer descriptors than the daemon needs.
    case tooFewDescriptors(limit: Int, needed: Int)
    /// libmicrohttpd refused to start; with TLS, usually because certificate and key are unreadable or do not match.
    case startRefused
    /// The daemon is running already, or was closed.
    case notStartable
    case notRunning
    /// The daemon was started without TLS, so it has no certificate to change.
    case notSecure

    /// One English sentence.
    package var description: String {
        switch self {
        case .badAddress(let address): "cannot listen on \"\(address)\": no such address here"
        case .cannotListen(let reason): "cannot listen: \(reason)"
        case .systemRefused(let reason): "the system refused: \(reason)"
        case .tooFewDescriptors(let limit, let needed):
            "the process may open \(limit) descriptors; at least \(needed) are needed (ulimit -n)"
        case .startRefused:
            "libmicrohttpd refused to start (with TLS: is the certificate readable, is the key its own?)"
        case .notStartable: "the daemon was started before"
        case .notRunning: "the daemon does not run"
        case .notSecure: "the daemon was started without TLS"
        }
    }
}

/// The system's text for the last error on this thread.
enum SystemText {
    static func last() -> String { text(for: errno) }

    static func text(for code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: start)
        }
    }
}
