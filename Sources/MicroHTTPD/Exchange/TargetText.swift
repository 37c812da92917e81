internal import Glibc

/// The request target as it stands in the library's memory of the request line.
struct TargetText {
    /// The target; nil if it is not UTF-8.
    let text: String?
    /// Where it stands. For comparison only: the memory is the library's.
    private let start: UInt
    private let end: UInt

    /// Copies a target, then hides its query from the library.
    ///
    /// The library would go on and take the query apart, into the connection's memory: some hundred parts fill that, and
    /// the request gets no answer at all. Nobody asks it for them, so the query is made to end where it begins. The
    /// memory is the connection's own, and the library writes into it as well.
    init(taking target: UnsafePointer<CChar>) {
        text = String(validatingCString: target)
        start = UInt(bitPattern: target)
        end = start + UInt(strlen(target))
        if let mark = strchr(target, Int32(UInt8(ascii: "?"))) { mark[1] = 0 }
    }

    /// Whether the target is all that stands between a method and a version: the library reads each of the three up to
    /// its first NUL byte and passes over what follows it, and over further blanks.
    func fills(from method: UnsafePointer<CChar>, to version: UnsafePointer<CChar>) -> Bool {
        UInt(bitPattern: method) + UInt(strlen(method)) + 1 == start && end + 1 == UInt(bitPattern: version)
    }
}
