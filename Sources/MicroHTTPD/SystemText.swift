internal import Glibc

/// The system's words for its last error on this thread.
enum SystemText {
    static func last() -> String {
        text(for: errno)
    }

    static func text(for code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else {
                return "error \(code)"
            }
            return String(cString: start)
        }
    }
}
