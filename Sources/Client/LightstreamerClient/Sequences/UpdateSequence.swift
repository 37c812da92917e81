internal import SessionCore

/// The updates of a subscription as an asynchronous sequence, from the first update of the snapshot on.
///
/// The sequence throws `SubscriptionRefused` if the server refuses or removes the subscription, `SessionRefused` if the server
/// refuses the session, `DecodingError` for a row that the type cannot be made from, `ClientError` with `slowReader` for a
/// reader that falls behind by more than the buffer, and `CancellationError` in a cancelled task. Interruptions and new
/// sessions do not end it: a new session begins with a snapshot again.
///
/// The elements are updates alone. That an item was cleared, that updates were lost, and that another session begins, whose
/// snapshot may lack keys of the former one, is told by `Subscription.events()`.
///
/// A sequence of `LightstreamerClient.updates` makes a subscription for each loop: it subscribes at the first `next()`,
/// connects the client if it is disconnected, and unsubscribes when the loop ends or is cancelled. `disconnect()` and
/// `shutdown()` end it. A sequence of `Subscription.updates` reads a subscription that the application has made, from the
/// next event on, and lasts until `shutdown()`. A further loop over that sequence continues after the last update that was read; a
/// loop that begins while another one runs has all updates from then on.
public struct UpdateSequence<Element: Sendable>: AsyncSequence, Sendable {
    enum Source: Sendable {
        /// A new subscription for each iterator, made by the closure.
        case client(LightstreamerClient, @Sendable () throws -> Subscription)
        case subscription(UpdateReader)
    }

    private let source: Source
    private let buffering: UpdateBuffering
    private let element: @Sendable (ItemUpdate) throws -> Element

    init(
        _ source: Source,
        buffering: UpdateBuffering = .all(limit: 1_024),
        _ element: @escaping @Sendable (ItemUpdate) throws -> Element
    ) {
        self.source = source
        self.buffering = buffering
        self.element = element
    }

    /// The same updates conflated: the newest row of each item, in COMMAND mode of each key, with all fields that changed
    /// since the reader got the row last. The memory is bounded by the rows, and the reader never falls behind. A key that
    /// is added and deleted in between is left out; JSON Patches are not available.
    public func latest() -> UpdateSequence { with(.latest) }

    /// The same updates with a buffer for this number of updates. Snapshots do not count, unless one of a session before is
    /// still to be read. Default: 1,024.
    public func buffered(upTo limit: Int) -> UpdateSequence { with(.all(limit: limit)) }

    private func with(_ buffering: UpdateBuffering) -> UpdateSequence {
        switch source {
        case .client: UpdateSequence(source, buffering: buffering, element)
        case .subscription(let reader):
            UpdateSequence(.subscription(UpdateReader(reader.subscription, buffering)), buffering: buffering, element)
        }
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .client(let client, let make):
            AsyncIterator(state: .waiting(client, make), buffering: buffering, element: element)
        case .subscription(let reader):
            AsyncIterator(state: .registered(ReaderUse(reader, buffering)), buffering: buffering, element: element)
        }
    }

    /// Reads the updates; for one task at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate enum State {
            /// A subscription is to be made. *Leaves to* `reading` or `over` by the first `next()`.
            case waiting(LightstreamerClient, @Sendable () throws -> Subscription)
            /// Updates are being kept. *Leaves to* `reading` or `over` by the first `next()`.
            case registered(ReaderUse)
            /// The loop has begun. *Leaves to* `over`.
            case reading(ReaderUse)
            /// The loop has ended.
            case over
        }

        fileprivate var state: State
        fileprivate let buffering: UpdateBuffering
        fileprivate let element: @Sendable (ItemUpdate) throws -> Element

        /// The next element; nil at the end.
        public mutating func next() async throws -> Element? { try await next(isolation: nil) }

        /// The next element; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if case .over = state { return nil }
            do {
                try Task.checkCancellation()
                guard let reader = try start() else { return nil }
                let update = try await withTaskCancellationHandler(
                    operation: { try await reader.feed.next(isolation: actor) },
                    onCancel: { reader.stop() },
                    isolation: actor
                )
                if let update { return try element(update) }
                state = .over
                return nil
            } catch {
                // Releases the reader, and with it the subscription.
                state = .over
                throw error
            }
        }

        private mutating func start() throws -> UpdateReader? {
            let use: ReaderUse
            switch state {
            case .over: return nil
            case .reading(let present): return present.reader
            case .registered(let present): use = present
            case .waiting(let client, let make):
                use = ReaderUse(try UpdateReader(make(), of: client, buffering), buffering)
            }
            use.reader.begin()
            state = .reading(use)
            return use.reader
        }
    }
}

@available(*, unavailable)
extension UpdateSequence.AsyncIterator: Sendable {}
