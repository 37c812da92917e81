internal import StreamIO

/// The methods for streams whose bytes the library reads, called in its content reader.
extension StreamScheduler {
    /// The due bytes of the stream; empty if there are none.
    func fill(_ writer: SecureStreamWriter) -> ArraySlice<StreamPiece> {
        batch.removeAll()
        let progress = writer.stream.content.fill(&batch, now: now)
        switch progress {
        case .idle(let deadline):
            schedule(writer.stream.id.slot, deadline)
        case .more:
            wheel.cancel(writer.stream.id.slot)
            if batch.pieces.isEmpty { enqueue(writer.stream.id.slot) }
        case .finish:
            writer.willFinish()
        }
        let pieces = Array(batch.pieces)[...]
        batch.removeAll()
        return pieces
    }

    /// Bytes were passed to the library: the stream counts as blocked until the library reads again.
    func handedOut(_ writer: SecureStreamWriter, _ count: Int) -> Moment {
        secureBytes &+= UInt64(count)
        wheel.schedule(writer.stream.id.slot, at: now + blockedTimeout)
        return now
    }

    /// The stream's connection was suspended: the loop watches whether its client leaves.
    func suspended(_ writer: SecureStreamWriter, _ descriptor: Int32) {
        _ = poller.add(descriptor, token: writer.stream.id.rawValue, .closed)
    }

    /// The library has released the stream, or is about to.
    func closed(_ writer: SecureStreamWriter, _ reason: StreamEnd) {
        guard self.writer(of: writer.stream.id) === writer else { return }
        remove(writer.stream.id.slot, writer)
        writer.leave()
        writer.stream.ended(reason)
    }
}
