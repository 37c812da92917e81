internal import FoundationEssentials
internal import Gateway
internal import JSONText
internal import LightstreamerClient
internal import Primitives
internal import SessionCore
internal import Synchronization

/// Connects to a Lightstreamer server and subscribes.
struct ServerWatch {
    let command: WatchCommand
    let address: String
    let output: WatchOutput

    func run() async throws {
        let client: LightstreamerClient
        let listener = WatchListener(address: address, once: command.once, output: output)
        do throws(ClientError) {
            client = try LightstreamerClient(serverAddress: address, adapterSet: command.adapterSet)
            client.connectionDetails.setUser(command.user)
            client.connectionDetails.setPassword(ProcessInfo.processInfo.environment["LIGHTSTREAMER_PASSWORD"])
            let subscription = try Subscription(
                mode: command.subscriptionMode,
                items: WatchCommand.list(command.itemNames),
                fields: WatchCommand.list(command.fieldNames)
            )
            try subscription.setDataAdapter(command.dataAdapter)
            client.addDelegate(listener)
            subscription.addDelegate(listener)
            try client.subscribe(subscription)
            try client.connect()
        } catch {
            // The user has given no property.
            throw WatchFailure(error.property == "serverAddress" ? "\(address): \(error.rule)" : "\(error)")
        }
        let failure = await end(of: client, listener)
        await client.shutdown()
        if let failure { throw failure }
    }

    /// Waits for the end, and connects again after errors that may pass. Returns nil after the last requested update,
    /// otherwise the reason for the end.
    private func end(of client: LightstreamerClient, _ listener: WatchListener) async -> WatchFailure? {
        var pause = RetryPause()
        for await event in listener.events.stream {
            switch event {
            case .ended(let failure): return failure
            case .refused(let hadUpdates):
                if hadUpdates { pause.reset() }
                do {
                    try await pause.wait()
                    try client.connect()
                } catch {
                    return error is CancellationError ? nil : WatchFailure("\(error)")
                }
            }
        }
        return nil
    }
}

/// Shows the events of a client; reports the last requested update, and refusals of the server.
private final class WatchListener: ClientDelegate, SubscriptionDelegate {
    enum Event {
        /// The last requested update was shown, or no attempt follows, for a reason.
        case ended(WatchFailure?)
        /// The server has refused or closed the session, after updates that were no snapshot or without any.
        case refused(hadUpdates: Bool)
    }

    /// A refusal, which only another attempt can follow, and the first end.
    let events = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(2))
    private let hasUpdates = Atomic(false)
    private let address: String
    private let once: Bool
    private let output: WatchOutput

    init(address: String, once: Bool, output: WatchOutput) {
        self.address = address
        self.once = once
        self.output = output
    }

    func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
        let isFailed = status == .disconnectedWillRetry || status == .disconnectedTryingRecovery
        let failure = isFailed ? client.lastFailure.map { sentence($0, client) } : nil
        _ = output.show(.status(status.rawValue, failure: failure))
        if once, status == .disconnectedWillRetry {
            events.continuation.yield(.ended(WatchFailure(failure ?? "Cannot connect to \(address).")))
        }
    }

    private func sentence(_ kind: FailureKind, _ client: LightstreamerClient) -> String {
        if let refusal = client.lastRefusal { return TroubleText.sentence(refusal).printable }
        let controlLink = client.attemptedControlLink
        return TroubleText.sentence(
            kind,
            httpStatus: client.lastHTTPStatus,
            address: controlLink ?? address,
            settings: nil,
            addressName: controlLink == nil ? "the address" : "the control link of the server"
        ).printable
    }

    func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {
        do throws(WatchFailure) {
            let content: JSONValue = ["code": .number(JSONNumber(code)), "message": .string(message)]
            let refusal = UpstreamRefusal(code: code, message: message)
            let isDone = try output.sessionEnded(refusal, content, once: once)
            let hadUpdates = hasUpdates.exchange(false, ordering: .relaxed)
            events.continuation.yield(isDone ? .ended(nil) : .refused(hadUpdates: hadUpdates))
        } catch {
            events.continuation.yield(.ended(error))
        }
    }

    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {
        events.continuation.yield(.ended(.subscriptionError(code, message ?? "")))
    }

    func subscriptionDidSubscribe(_ subscription: Subscription) { show("subscribed", [:]) }

    func subscriptionDidUnsubscribe(_ subscription: Subscription) {
        show("unsubscribed", [:])
        // The subscription stays active when only its session has ended.
        if !subscription.isActive { events.continuation.yield(.ended(.removal)) }
    }

    func subscription(_ subscription: Subscription, didEndSnapshotForItemName itemName: String?, itemPos: Int) {
        show("end-of-snapshot", ["item": .string(Self.name(itemName, itemPos))])
    }

    func subscription(_ subscription: Subscription, didClearSnapshotForItemName itemName: String?, itemPos: Int) {
        show("clear-snapshot", ["item": .string(Self.name(itemName, itemPos))])
    }

    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forItemName itemName: String?,
        itemPos: Int
    ) {
        show(
            "lost-updates",
            ["item": .string(Self.name(itemName, itemPos)), "count": .number(JSONNumber(lostUpdates))]
        )
    }

    /// Shows an event that is no update, in the form of the gateway's streams.
    private func show(_ name: String, _ content: JSONValue) {
        if output.show(.other(name: name, content: content.text)) { events.continuation.yield(.ended(nil)) }
    }

    /// The name of an item, or its position.
    private static func name(_ itemName: String?, _ itemPos: Int) -> String { itemName ?? "item \(itemPos)" }

    func subscription(_ subscription: Subscription, didUpdateItem update: ItemUpdate) {
        var shown = WatchUpdate(item: Self.name(update.itemName, update.itemPos), isSnapshot: update.isSnapshot)
        let names = update.layout.fieldNames ?? []
        for (index, name) in names.enumerated() where update.changed.contains(index + 1) {
            shown.fields.append(.init(name: name, value: update.value(at: index + 1)))
        }
        if subscription.mode == .command {
            shown.key = try? update.value(withFieldName: "key")
            shown.command = try? update.value(withFieldName: "command")
        }
        if !update.isSnapshot { hasUpdates.store(true, ordering: .relaxed) }
        if output.show(.update(shown)) { events.continuation.yield(.ended(nil)) }
    }
}
