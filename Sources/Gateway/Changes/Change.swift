package import JSONText
package import Primitives
package import SessionCore

/// One change of a client or of a subscription. A change appends at most one event to a log, and its application involves
/// no decision: hubs that apply the same changes have the same topics.
package enum Change: Sendable, Equatable {
    case client(ClientID, ClientChange)
    case subscription(SubscriptionID, SubscriptionChange)

    /// The client or subscription that changes.
    package var topic: TopicID {
        switch self {
        case .client(let id, _): .client(id)
        case .subscription(let id, _): .subscription(id)
        }
    }
}

package enum ClientChange: Sendable, Equatable {
    /// The client was added. No effect if it is known.
    case added(ClientStatus)
    /// The client was removed. Its streams receive the events published before; those without another source are closed.
    case removed
    /// An event of the client. No effect if the client is unknown.
    case event(ClientTopicEvent)
}

/// An event of a client, as streams carry it.
package enum ClientTopicEvent: Sendable, Equatable {
    /// The new status; `failure`: why there is no connection, nil with one and before the first failure.
    case status(ClientStatus, failure: LastFailure? = nil)
    /// The server refused or closed the client's session.
    case serverError(code: Int, message: String)
    /// A property of the client changed. The value is the one that REST shows; nil for those that are never shown.
    case property(name: String, value: JSONValue?)
    /// The outcome of a message is known; the id is the one that REST returned.
    case message(id: String, MessageOutcome)
    /// For legacy listeners: an event of the session core.
    case legacy(LegacyEvent)
    /// For legacy listeners: a session was opened; one event for each session.
    case sessionStarted(polling: Bool)
    /// For legacy listeners: the bytes received since the last such event; at most one event a second.
    case bytesReceived(Int)
    /// For legacy listeners: true if the connection has been silent for too long, false if it is active again.
    case activityWarning(Bool)
}

package enum SubscriptionChange: Sendable, Equatable {
    /// The resource was added; it is inactive. No effect if it is known.
    case added(SubscriptionProperties)
    /// The resource was removed. Its streams receive the events published before; those without another source are closed.
    case removed
    /// The properties have changed. A client that carries the subscription keeps its values.
    case propertiesChanged(SubscriptionProperties)
    /// From now on this client carries the subscription, which is active. Nil: no client carries it, and whether it is
    /// active does not change.
    case carried(by: ClientID?)
    /// The subscription becomes active or inactive without an event.
    case activity(isActive: Bool)
    /// An event of the subscription. No effect if the subscription is unknown.
    case event(SubscriptionEvent)
}

/// A change with its index among the changes at one position.
package struct NumberedChange: Sendable, Equatable {
    /// The index; at most `EventNumber.lastIndex`. It rises from change to change.
    package let index: UInt16
    package let change: Change

    package init(index: UInt16, change: Change) {
        self.index = index
        self.change = change
    }
}

/// Given numbers: a position of an ordered log, and an index among the changes at that position.
///
///     63                       16 15          0
///     │        position          │   index    │
///
///     index 0 … 0xFEFF   a change at the position
///     index 0xFF00       an event inside a snapshot that was taken behind the position
///     index 0xFFFF       all changes at the position, and the snapshot that was taken behind it
package enum EventNumber {
    package static let lastIndex: UInt16 = 0xFEFF
    /// The index of the events of a snapshot except its last one. A stream cannot resume from there.
    package static let insideSnapshot: UInt16 = 0xFF00
    /// The index that stands for all events at a position.
    package static let complete: UInt16 = 0xFFFF

    package static func number(position: UInt64, index: UInt16) -> UInt64 { position << 16 | UInt64(index) }

    package static func index(of number: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: number) }

    /// Another index at the position of a number.
    package static func number(at number: UInt64, index: UInt16) -> UInt64 { number & ~0xFFFF | UInt64(index) }

    package static func isInsideSnapshot(_ number: UInt64) -> Bool {
        (insideSnapshot..<complete).contains(index(of: number))
    }
}

/// Receives the changes of this process's clients and subscriptions: the hub, or the component that orders the
/// changes of several processes.
///
/// Calls about one topic come one at a time, in the order of its changes. They must return quickly and must not block.
package protocol ChangeSink: Sendable {
    func take(_ change: Change)
    /// Takes changes that belong together: no stream joins between them.
    func take(_ changes: [Change])
    /// Takes the change that a client carries a subscription from now on, and the present values; nil: there are none. No
    /// stream joins between them.
    func carry(_ subscription: SubscriptionID, by client: ClientID, _ values: ValueTable?)
    /// Takes an event of a subscription. Returns a call that has it delivered; nil: it is delivered anyway. The caller
    /// makes the call soon, and without a lock: it may write to the sockets of readers.
    func publish(_ event: SubscriptionEvent, of subscription: SubscriptionID) -> (@Sendable () -> Void)?
}

extension ChangeSink {
    /// Takes the present values as the events that lead to them.
    package func carry(_ subscription: SubscriptionID, by client: ClientID, _ values: ValueTable?) {
        var changes = [Change.subscription(subscription, .carried(by: client))]
        for event in values?.eventsFromStart ?? [] { changes.append(.subscription(subscription, .event(event))) }
        take(changes)
    }

    /// Takes the event as a change.
    package func publish(_ event: SubscriptionEvent, of subscription: SubscriptionID) -> (@Sendable () -> Void)? {
        take(.subscription(subscription, .event(event)))
        return nil
    }
}

extension ValueTable {
    /// The events that lead from an empty table to the present one, in order; none for a table that is not subscribed.
    package var eventsFromStart: [SubscriptionEvent] {
        let first = firstEvents
        return first.isEmpty ? [] : first + presentState(keepsCommands: true) + secondLevelFailures
    }

    /// The confirmation and the frequency of a subscription in its present state; none while it is not subscribed.
    package var firstEvents: [SubscriptionEvent] {
        guard isSubscribed, let itemCount, let fieldCount else { return [] }
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: itemCount,
            fieldCount: fieldCount,
            keyPosition: keyPosition,
            commandPosition: commandPosition
        )
        let frequency = realMaxFrequency.map { [SubscriptionEvent.realMaxFrequency($0)] } ?? []
        return [subscribed] + frequency
    }

    /// As `eventsFromStart`, followed by the last row of each item where it does not result from these events: later
    /// rows from the server refer to it.
    package var eventsWithRows: [SubscriptionEvent] {
        let events = eventsFromStart
        return events.isEmpty ? [] : events + lastRows()
    }
}

/// The id of a client, as REST shows it.
package struct ClientID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }

    package static func < (lhs: ClientID, rhs: ClientID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The id of a subscription resource, as REST shows it.
package struct SubscriptionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }

    package static func < (lhs: SubscriptionID, rhs: SubscriptionID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The subject of changes: a client or a subscription resource.
package enum TopicID: Hashable, Sendable {
    case client(ClientID)
    case subscription(SubscriptionID)
}

/// The JSON forms that events and responses share.
extension JSONBytes {
    /// A property of the class reference, or null.
    package mutating func write(_ value: (some NumberOrWord)?) {
        if let word = value?.word {
            string(word)
        } else if let amount = value?.amount {
            shortest(amount)
        } else {
            null()
        }
    }

    /// A key with a property of the class reference, or null.
    package mutating func member(_ name: StaticString, _ value: (some NumberOrWord)?) {
        key(name)
        write(value)
    }

    /// A key with an error code and message of the server, or null.
    package mutating func member(_ name: StaticString, _ refusal: UpstreamRefusal?) {
        key(name)
        guard let refusal else { return null() }
        beginObject()
        member("code", refusal.code)
        member("message", refusal.message)
        endObject()
    }

    package mutating func writeMembers(of outcome: MessageOutcome) {
        switch outcome {
        case .processed(let response):
            member("outcome", "processed")
            member("response", response)
        case .denied(let code, let error):
            member("outcome", "denied")
            member("code", code)
            member("error", error)
        case .discarded: member("outcome", "discarded")
        case .failed: member("outcome", "failed")
        case .aborted(let sentOnNetwork):
            member("outcome", "aborted")
            member("sentOnNetwork", sentOnNetwork)
        }
    }
}

/// Generates ids that cannot be guessed: a letter for the kind, then 80 random bits in base 32.
package enum RandomID {
    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    /// A fresh id with this first letter.
    package static func make(prefix: Character) -> String {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        // Two numbers, of which each has the bits of eight characters.
        for _ in 0..<2 {
            var bits = generator.next() as UInt64
            for _ in 0..<8 {
                bytes.append(alphabet[Int(bits & 31)])
                bits >>= 5
            }
        }
        return String(prefix) + String(decoding: bytes, as: UTF8.self)
    }

    /// The character of ids for the lowest five bits of a number.
    package static func character(of bits: UInt64) -> UInt8 { alphabet[Int(bits & 31)] }
}
