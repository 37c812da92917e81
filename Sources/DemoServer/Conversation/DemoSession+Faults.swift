extension DemoSession {
    /// Something goes wrong with the stream connection; effects that are not about one do nothing.
    mutating func strike(_ effect: FaultEffect, _ desk: inout ServerDesk) {
        guard let link = stream?.link else { return }
        switch effect {
        case .drop:
            desk.links.cut(link)
        case .skipData:
            desk.links[link]?.faults.skipsNextData = true
        case .loop(let delay):
            loop(delay: delay, &desk)
        case .end(let code, let message):
            end(SessionEnd(code: code, message: message), &desk)
        case .inject(let lines):
            for line in lines { write(Array(line.utf8) + [0x0D, 0x0A], &desk) }
        case .repeatData:
            if let line = log.lastLine { write(line, &desk) }
        case .clientAddress(let address):
            write(.clientIP(address), &desk)
        case .contentLength(let length):
            stream?.contentLength = max(0, length)
        default:
            desk.links.strike(link, effect, at: desk.now, &desk.timers)
        }
    }
}
