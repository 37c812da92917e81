/// What the message ledger asks of the session machine; carried out in the order of the list.
package enum MessageEffect: Sendable, Equatable {
    /// Tell the delegate of a message; its last event.
    case notify(MessageToken, MessageOutcome)
}
