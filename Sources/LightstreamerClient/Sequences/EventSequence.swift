internal import Synchronization

/// Events of a client or subscription as an asynchronous sequence with a bounded buffer.
///
/// It begins with the next event, and ends with the client. A reader that falls behind by more than the buffer gets
/// what is buffered, then `ClientError` with `slowReader`: it has missed events, and is told so.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable {
    private let stream: AsyncThrowingStream<Event, any Error>

    init(_ stream: AsyncThrowingStream<Event, any Error>) { self.stream = stream }

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncThrowingStream<Event, any Error>.Iterator { stream.makeAsyncIterator() }
}

/// Feeds one event sequence. An event that exceeds the buffer ends the sequence.
final class SequenceFeed<Event: Sendable>: Sendable {
    private let continuation: AsyncThrowingStream<Event, any Error>.Continuation

    init(_ continuation: AsyncThrowingStream<Event, any Error>.Continuation) { self.continuation = continuation }

    func yield(_ event: Event) {
        guard case .dropped = continuation.yield(event) else { return }
        continuation.finish(throwing: ClientError(.slowReader, rule: "The events were read too slowly"))
    }

    func finish() { continuation.finish() }

    deinit { continuation.finish() }
}
