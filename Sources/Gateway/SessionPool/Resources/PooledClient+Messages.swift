internal import Changes
package import LightstreamerClient
package import SessionCore

extension PooledClient {
    /// Sends a message and returns its id. The outcome goes to the sink and, with the id, to `ended`, possibly before
    /// this method returns; to neither if the message does not request it.
    ///
    /// - Parameter retained: Is kept until the message is finished.
    package func send(
        _ message: MessageSubmission,
        retaining retained: (any Sendable)? = nil,
        ended: @escaping @Sendable (String, MessageOutcome) -> Void = { _, _ in }
    ) throws(ClientError) -> String {
        // The server expects the numbers of the messages to continue, and only this process knows them.
        if isTransferable { withdrawOffer() }
        let messageID = RandomID.make(prefix: "m")
        let relay = MessageRelay(client: id, message: messageID, sink: sink, ended: ended)
        try core.sendMessage(
            message.text,
            withSequence: message.sequence,
            timeout: message.delayTimeout,
            delegate: message.wantsOutcome ? relay : nil,
            wantsOutcome: message.wantsOutcome,
            enqueueWhileDisconnected: message.enqueueWhileDisconnected,
            retaining: retained
        )
        return messageID
    }
}

/// A message to be sent.
package struct MessageSubmission: Sendable, Equatable {
    /// The text.
    package var text: String
    /// The sequence; nil: unordered.
    package var sequence: String?
    /// How long the server waits for missing earlier messages, in seconds; nil: the server's default.
    package var delayTimeout: Double?
    /// Whether the message waits for a session if there is none.
    package var enqueueWhileDisconnected = false
    /// Whether the outcome is requested and reported.
    package var wantsOutcome = true

    /// A message with the defaults.
    package init(text: String) { self.text = text }
}

/// Passes the outcome of one message to the sink.
final class MessageRelay: ClientMessageDelegate {
    private let client: ClientID
    private let message: String
    private let sink: any PoolSink
    private let ended: @Sendable (String, MessageOutcome) -> Void

    init(
        client: ClientID,
        message: String,
        sink: any PoolSink,
        ended: @escaping @Sendable (String, MessageOutcome) -> Void
    ) {
        self.client = client
        self.message = message
        self.sink = sink
        self.ended = ended
    }

    private func finish(_ outcome: MessageOutcome) {
        sink.take(.client(client, .event(.message(id: message, outcome))))
        ended(message, outcome)
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
