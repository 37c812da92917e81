package import LightstreamerClient
package import SessionCore

extension PooledClient {
    /// Sends a message. Its outcome goes to the sink and to `ended`; neither if the order does not want it.
    package func send(
        _ order: MessageSubmission,
        ended: @escaping @Sendable (MessageOutcome) -> Void = { _ in }
    ) throws(ClientError) -> String {
        let message = RandomID.make(prefix: "m")
        let relay = MessageRelay(client: id, message: message, sink: sink, ended: ended)
        try core.sendMessage(
            order.text,
            withSequence: order.sequence,
            timeout: order.delayTimeout,
            delegate: order.wantsOutcome ? relay : nil,
            enqueueWhileDisconnected: order.enqueueWhileDisconnected
        )
        countMessage()
        return message
    }
}
