internal import Primitives
public import SessionCore

/// Calls that wait. Each connects the client if it is disconnected, and throws `SessionRefused` if the server refuses the
/// session, `ClientError` with `lifecycle` if the application disconnects or unsubscribes meanwhile, with `shutDown`, or with
/// `noServerAddress`, and `CancellationError` in a cancelled task. A server that cannot be reached is tried again until then.
extension LightstreamerClient {
    /// Waits until there is a session that is connected.
    public func connected() async throws {
        if core.state.withLock({ $0.isConnected }) { return }
        let watch = ConnectionWatch()
        core.perform { [core] delivery in
            delivery.add(watch)
            if core.state.withLock({ $0.isConnected }) { watch.wait.end(.success(())) }
        }
        defer { core.perform { $0.remove(watch) } }
        try await withClientSpan("lightstreamer connect", of: core) {
            try core.connectIfDisconnected(while: { !watch.wait.isOver }, orElse: { watch.wait.end(.failure($0)) })
            try await watch.wait.value
        }
    }

    /// Sends a message, and waits for its outcome. A cancelled task no longer waits, but the message is not withdrawn.
    ///
    /// - Parameters:
    ///   - text: The message.
    ///   - sequence: Messages of one sequence are processed in order; ASCII letters, digits and underscores. Nil: none.
    ///   - delayTimeout: How many seconds the server may wait for missing earlier messages of the sequence; nil or
    ///     negative: the server decides.
    /// - Returns: The outcome; `aborted` if it will never be known.
    public func send(
        _ text: String,
        in sequence: String? = nil,
        timeout delayTimeout: Double? = nil
    ) async throws -> MessageOutcome {
        try await withClientSpan("lightstreamer send", of: core, [("lightstreamer.sequence", sequence)]) {
            try await connected()
            let wait = Awaited<MessageOutcome>()
            try sendMessage(
                text,
                withSequence: sequence,
                timeout: delayTimeout,
                enqueueWhileDisconnected: false,
                onOutcome: { wait.end(.success($0)) }
            )
            return try await wait.value
        }
    }
}

/// Calls that wait; as those of the client. They throw `SubscriptionRefused` if the server refuses the subscription, and
/// `ClientError` with `lifecycle` if it is not active.
extension Subscription {
    /// Waits until the server has accepted the subscription in the present session.
    public func activated() async throws { try await wait { $0.isSubscribed ? () : nil } }

    /// Waits until the snapshot of every item has arrived, and returns the present rows: in MERGE mode one for each item,
    /// in DISTINCT mode the last ones, in COMMAND mode one for each key, whose second level is not waited for. An item that
    /// has no value is waited for. Throws `ClientError` with `lifecycle` if no snapshot is requested.
    public func snapshot() async throws -> [ItemUpdate] {
        guard let requested = requestedSnapshot, requested != .no else {
            throw ClientError(.lifecycle, property: "requestedSnapshot", rule: "The Subscription requests no snapshot")
        }
        let progress = RankedMutex(SnapshotProgress())
        return try await wait { subscription in
            guard let table = subscription.valueTable, progress.withLock({ $0.isComplete(table) }) else { return nil }
            return table.presentState().compactMap { event in
                if case .update(let update) = event { update } else { nil }
            }
        }
    }

    private func wait<Value: Sendable>(_ find: @escaping @Sendable (Subscription) -> Value?) async throws -> Value {
        let watch = SubscriptionWatch(find)
        guard let core = state.withLock({ $0.core }) else { throw refusal ?? SubscriptionStop.unsubscribed.error }
        let isOpen = core.perform { [self] _ in
            guard isActive else { return watch.wait.end(.failure(refusal ?? SubscriptionStop.unsubscribed.error)) }
            addObserver(watch)
            watch.examine(self)
            // A call that was cancelled may have removed the watch before.
            if watch.wait.isOver { removeObserver(watch) }
        }
        guard isOpen else { throw SubscriptionStop.shutDown.error }
        defer { removeObserver(watch) }
        let attributes = [
            ("lightstreamer.mode", mode.rawValue), ("lightstreamer.items", items?.joined(separator: " ") ?? itemGroup),
            ("lightstreamer.data_adapter", dataAdapter),
        ]
        return try await withClientSpan("lightstreamer subscribe", of: core, attributes) {
            try core.connectIfDisconnected(while: { !watch.wait.isOver }, orElse: { watch.wait.end(.failure($0)) })
            return try await watch.wait.value
        }
    }
}

/// Calls a function with a new client, which is shut down when the function returns or throws.
///
/// - Parameters:
///   - serverAddress: The address of the server.
///   - adapterSet: The Adapter Set; nil: the server's `DEFAULT`.
///   - configuration: The settings of the client.
///   - body: The use of the client.
/// - Throws: The errors of the client's initializer and of the function.
public func withLightstreamerClient<Value>(
    serverAddress: String,
    adapterSet: String? = nil,
    configuration: ClientConfiguration = ClientConfiguration(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (LightstreamerClient) async throws -> Value
) async throws -> Value {
    let client = try LightstreamerClient(
        serverAddress: serverAddress,
        adapterSet: adapterSet,
        configuration: configuration
    )
    do {
        let value = try await body(client)
        await client.shutdown()
        return value
    } catch {
        await client.shutdown()
        throw error
    }
}
