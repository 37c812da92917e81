internal import TLCP

/// The connection that a session is bound to, and the granted parameters.
struct StreamBinding: Sendable {
    enum PollPhase: Sendable, Hashable {
        /// Waits for data, up to the granted idle time. *Leaves to* `gathering` or ends.
        case waiting
        /// Has data, and waits for more for `ServerTimings.pollGathering`. *Leaves to* `answering`.
        case gathering
        /// Writes the pending data; `LOOP` follows in the same event.
        case answering
    }

    struct Poll: Sendable, Hashable {
        /// Granted time to wait for data.
        var idle: Duration
        /// Granted pause until the next poll, the argument of `LOOP`.
        var pause: Duration
        var phase = PollPhase.waiting
    }

    let link: LinkID
    /// Whether the connection is a WebSocket: no content length, no padding.
    let isWebSocket: Bool
    /// Parameters of a poll; nil when streaming.
    var poll: Poll?
    /// Longest time without a line, after which `PROBE` is sent; streaming only.
    var keepalive: Duration
    /// Longest time between two requests of the client; nil if not limited.
    var inactivity: Duration?
    var sendsSync: Bool
    /// Size of the body at which `LOOP` is sent; nil for no limit.
    var contentLength: Int?
    /// When the session was bound to the connection.
    let boundAt: Duration

    /// Bytes of the body so far.
    var written = 0
    /// Data notifications written on the connection.
    var dataCount = 0
    /// When the client last sent a request for the session.
    var lastRequest: Duration
    /// Whether the connection closes after `LOOP` or `END`.
    var closesSocket = false

    /// Bytes reserved for the final `LOOP` or `END`.
    static let reserve = 128

    /// Whether a data line fits into the content length; the first one always does.
    func hasRoom(for length: Int) -> Bool {
        guard let contentLength, dataCount > 0 else { return true }
        return written + length + StreamBinding.reserve <= contentLength
    }

    /// Whether data may be committed now.
    var takesData: Bool { poll.map { $0.phase == .answering } ?? true }
}

extension ConnectionParameters {
    /// The terms that are granted on a connection.
    func granted(on id: LinkID, _ link: Link, by configuration: DemoServerConfiguration, at now: Duration)
        -> StreamBinding
    {
        let timings = configuration.timings
        let isWebSocket = link.kind == .webSocket
        var binding = StreamBinding(
            link: id,
            isWebSocket: isWebSocket,
            keepalive: timings.keepalive,
            sendsSync: false,
            contentLength: isWebSocket ? link.faults.contentLength : length(link, configuration.limits),
            boundAt: now,
            lastRequest: now
        )
        switch kind {
        case .polling(let interval, let idle):
            binding.poll = StreamBinding.Poll(
                idle: min(.boundedMilliseconds(idle), timings.maxIdle),
                pause: min(.boundedMilliseconds(interval), timings.maxPollingInterval)
            )
        case .streaming(let keepalive, let inactivity, let sendsSync):
            binding.sendsSync = sendsSync
            if let keepalive, keepalive > 0 {
                let bounds = timings.keepaliveBounds
                let asked = Duration.boundedMilliseconds(keepalive)
                binding.keepalive = min(max(asked, bounds.lowerBound), bounds.upperBound)
            }
            if let inactivity, inactivity > 0 { binding.inactivity = .boundedMilliseconds(inactivity) }
        }
        return binding
    }

    private func length(_ link: Link, _ limits: ServerLimits) -> Int {
        if let forced = link.faults.contentLength { return forced }
        guard let contentLength, contentLength >= limits.minContentLength else { return limits.contentLength }
        return contentLength
    }
}
