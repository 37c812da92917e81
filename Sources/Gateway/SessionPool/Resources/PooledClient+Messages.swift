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
        let report: @Sendable (MessageOutcome) -> Void = { [id, sink] outcome in
            sink.take(.client(id, .event(.message(id: messageID, outcome))))
            ended(messageID, outcome)
        }
        try core.sendMessage(
            message.text,
            withSequence: message.sequence,
            timeout: message.delayTimeout,
            enqueueWhileDisconnected: message.enqueueWhileDisconnected,
            from: isDedicated ? nil : message.sender,
            retaining: retained,
            onOutcome: message.wantsOutcome ? report : nil
        )
        return messageID
    }
}

package struct MessageSubmission: Sendable, Equatable {
    package var text: String
    /// The sequence; nil: unordered.
    package var sequence: String?
    /// How long the server waits for missing earlier messages, in seconds; nil: the server's default.
    package var delayTimeout: Double?
    /// Whether the message waits for a session if there is none.
    package var enqueueWhileDisconnected = false
    package var wantsOutcome = true
    /// The account that sends the message; nil: none. An account may begin half of the sequences of a pooled session.
    package var sender: String?

    package init(text: String) { self.text = text }
}
