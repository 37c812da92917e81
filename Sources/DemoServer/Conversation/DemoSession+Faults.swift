extension DemoSession {
    /// Something goes wrong with the stream connection; effects that are not about one do nothing.
    mutating func strike(_ effect: FaultEffect, _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        switch effect {
        case .drop:
            context.links.cut(link)
        case .skipData:
            context.links[link]?.faults.skipsNextData = true
        case .loop(let delay):
            loop(delay: delay, &context)
        case .end(let code, let message):
            end(SessionEnd(code: code, message: message), &context)
        case .inject(let lines):
            for line in lines { write(Array(line.utf8) + [0x0D, 0x0A], &context) }
        case .repeatData:
            if let line = log.lastLine { write(line, &context) }
        case .clientAddress(let address):
            write(.clientIP(address), &context)
        case .contentLength(let length):
            stream?.contentLength = max(0, length)
        default:
            context.links.strike(link, effect, at: context.now, &context.timers)
        }
    }
}
