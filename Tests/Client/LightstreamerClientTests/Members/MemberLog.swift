internal import LightstreamerClient
internal import Synchronization
internal import Testing

/// Records the events of a client, its subscriptions and its messages; a test can wait for entries.
final class MemberLog: Sendable {
    private struct State {
        var entries: [String] = []
        var updates: [ItemUpdate] = []
    }

    private let state = Mutex(State())
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    /// Everything so far.
    var entries: [String] { state.withLock { $0.entries } }
    /// All updates so far.
    var updates: [ItemUpdate] { state.withLock { $0.updates } }

    /// Waits for an entry with this prefix, and returns the entries since the last wait, including that one.
    @discardableResult
    func until(_ beginning: String) async -> [String] {
        var passed: [String] = []
        for await entry in stream {
            passed.append(entry)
            if entry.hasPrefix(beginning) { return passed }
        }
        Issue.record("never seen: \(beginning); instead: \(passed)")
        return passed
    }

    /// Waits for an entry that may have been written already.
    func untilPresent(_ entry: String) async {
        if !entries.contains(entry) { await until(entry) }
    }

    /// The last update that `until("update")` waited for.
    func nextUpdate() async throws -> ItemUpdate {
        await until("update")
        return try #require(updates.last)
    }

    func note(_ entry: String, _ update: ItemUpdate? = nil) {
        state.withLock { state in
            state.entries.append(entry)
            if let update { state.updates.append(update) }
        }
        continuation.yield(entry)
    }
}

extension MemberLog: ClientDelegate {
    func clientDidAddDelegate(_ client: LightstreamerClient) { note("added") }
    func clientDidRemoveDelegate(_ client: LightstreamerClient) { note("removed") }
    func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {
        note("error \(code) \(message)")
    }
    func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
        note("status \(status.rawValue)")
    }
    func client(_ client: LightstreamerClient, didChangeProperty property: String) { note("property \(property)") }
}

extension MemberLog: SubscriptionDelegate {
    func subscriptionDidAddDelegate(_ subscription: Subscription) { note("joined") }
    func subscriptionDidRemoveDelegate(_ subscription: Subscription) { note("left") }
    func subscriptionDidSubscribe(_ subscription: Subscription) { note("subscribed") }
    func subscriptionDidUnsubscribe(_ subscription: Subscription) { note("unsubscribed") }
    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {
        note("failed \(code)")
    }
    func subscription(_ subscription: Subscription, didUpdateItem itemUpdate: ItemUpdate) {
        let values = itemUpdate.values.map { $0 ?? "-" }.joined(separator: "|")
        note("update \(itemUpdate.itemPos) \(values)", itemUpdate)
    }
    func subscription(_ subscription: Subscription, didEndSnapshotForItemName itemName: String?, itemPos: Int) {
        note("end of snapshot \(itemName ?? "-") \(itemPos)")
    }
    func subscription(_ subscription: Subscription, didClearSnapshotForItemName itemName: String?, itemPos: Int) {
        note("clear snapshot \(itemName ?? "-") \(itemPos)")
    }
    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forItemName itemName: String?,
        itemPos: Int
    ) { note("lost \(lostUpdates) \(itemName ?? "-") \(itemPos)") }
    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forCommandSecondLevelItemWithKey key: String
    ) { note("lost \(lostUpdates) below \(key)") }
    func subscription(
        _ subscription: Subscription,
        didFailWithErrorCode code: Int,
        message: String?,
        forCommandSecondLevelItemWithKey key: String
    ) { note("failed \(code) below \(key)") }
    func subscription(_ subscription: Subscription, didReceiveRealFrequency frequency: RealMaxFrequency?) {
        note("frequency \(frequency?.text ?? "-")")
    }
}

extension MemberLog: ClientMessageDelegate {
    func client(_ client: LightstreamerClient, didProcessMessage message: String, withResponse response: String) {
        note("processed \(message): \(response)")
    }
    func client(_ client: LightstreamerClient, didDenyMessage message: String, withCode code: Int, error: String) {
        note("denied \(message): \(code) \(error)")
    }
    func client(_ client: LightstreamerClient, didDiscardMessage message: String) { note("discarded \(message)") }
    func client(_ client: LightstreamerClient, didFailMessage message: String) { note("broken \(message)") }
    func client(_ client: LightstreamerClient, didAbortMessage message: String, sentOnNetwork: Bool) {
        note("aborted \(message) \(sentOnNetwork ? "sent" : "unsent")")
    }
}
