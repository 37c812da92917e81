internal import TLCP

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
            lastWrite: now,
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
