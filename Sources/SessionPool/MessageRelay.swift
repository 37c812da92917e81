internal import LightstreamerClient
internal import SessionCore

/// Carries the outcome of one message to the sink.
final class MessageRelay: ClientMessageDelegate {
    private let client: ClientID
    private let message: String
    private let sink: any PoolSink
    private let ended: @Sendable (MessageOutcome) -> Void

    init(client: ClientID, message: String, sink: any PoolSink, ended: @escaping @Sendable (MessageOutcome) -> Void) {
        self.client = client
        self.message = message
        self.sink = sink
        self.ended = ended
    }

    private func finish(_ outcome: MessageOutcome) {
        sink.client(client, message: message, ended: outcome)
        ended(outcome)
    }

    func client(_ client: LightstreamerClient, didProcessMessage message: String, withResponse response: String) {
        finish(.processed(response: response))
    }

    func client(_ client: LightstreamerClient, didDenyMessage message: String, withCode code: Int, error: String) {
        finish(.denied(code: code, message: error))
    }

    func client(_ client: LightstreamerClient, didDiscardMessage message: String) { finish(.discarded) }

    func client(_ client: LightstreamerClient, didFailMessage message: String) { finish(.failed) }

    func client(_ client: LightstreamerClient, didAbortMessage message: String, sentOnNetwork: Bool) {
        finish(.aborted(sentOnNetwork: sentOnNetwork))
    }
}
