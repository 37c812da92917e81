extension Duration {
    /// Whole milliseconds, rounded down; what the wire uses.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let clamped = min(max(seconds, 0), Int64(Int32.max))
        return Int(clamped * 1_000 + (seconds < 0 ? 0 : attoseconds / 1_000_000_000_000_000))
    }

    /// Whole microseconds, rounded down, not below 0.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let clamped = min(max(seconds, 0), Int64(Int32.max))
        return clamped * 1_000_000 + (seconds < 0 ? 0 : attoseconds / 1_000_000_000_000)
    }

    /// Whole seconds, rounded down, not below 0.
    var wholeSeconds: Int {
        Int(min(max(components.seconds, 0), Int64(Int32.max)))
    }

    /// Seconds as a number that may be far out of the range of a duration; held within a year.
    static func boundedSeconds(_ seconds: Double) -> Duration {
        .microseconds(Int64(min(max(seconds, 0), 31_536_000) * 1_000_000))
    }

    /// Milliseconds as a client wrote them; held within a year, and not below 0.
    static func boundedMilliseconds(_ milliseconds: Int) -> Duration {
        .milliseconds(min(max(milliseconds, 0), 31_536_000_000))
    }
}
