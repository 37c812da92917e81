internal import SessionCore

/// Receives the outcome of messages: one call for each message. For a message that the server reports as a duplicate (codes
/// 32 and 33), only if the outcome of the copy that the server has arrives. Every method has an empty default.
public protocol ClientMessageDelegate: AnyObject, Sendable {
    /// The Metadata Adapter processed the message; the response is empty if it gave none.
    func client(_ client: LightstreamerClient, didProcessMessage message: String, withResponse response: String)
    /// The Metadata Adapter refused the message with a code of its own.
    func client(_ client: LightstreamerClient, didDenyMessage message: String, withCode code: Int, error: String)
    /// The message never reached the Metadata Adapter; its sequence continues.
    func client(_ client: LightstreamerClient, didDiscardMessage message: String)
    /// Processing failed; how far it got is not known.
    func client(_ client: LightstreamerClient, didFailMessage message: String)
    /// The outcome will never be known: the session ended, or there was none.
    func client(_ client: LightstreamerClient, didAbortMessage message: String, sentOnNetwork: Bool)
}

extension ClientMessageDelegate {
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didProcessMessage message: String, withResponse response: String)
    {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didDenyMessage message: String, withCode code: Int, error: String)
    {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didDiscardMessage message: String) {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didFailMessage message: String) {}
    /// Does nothing.
    public func client(_ client: LightstreamerClient, didAbortMessage message: String, sentOnNetwork: Bool) {}
}

extension ClientMessageDelegate {
    /// Calls the method of an outcome.
    func receive(_ outcome: MessageOutcome, of text: String, client: LightstreamerClient) {
        switch outcome {
        case .processed(let response): self.client(client, didProcessMessage: text, withResponse: response)
        case .denied(let code, let message): self.client(client, didDenyMessage: text, withCode: code, error: message)
        case .discarded: self.client(client, didDiscardMessage: text)
        case .failed: self.client(client, didFailMessage: text)
        case .aborted(let sent): self.client(client, didAbortMessage: text, sentOnNetwork: sent)
        }
    }
}
