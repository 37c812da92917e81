internal import Changes
package import SessionCore

/// The entries of a ledger for subscriptions and clients.
extension ClusterLedger {
    /// The state of a subscription, as far as the ledger needs it for its decisions.
    package struct SubscriptionEntry: Sendable, Equatable {
        package private(set) var properties: SubscriptionProperties
        /// The member that owns it; nil for a shared one.
        package internal(set) var owner: UInt64?
        /// The position at which it was added.
        package internal(set) var madeAt: UInt64 = 0
        package private(set) var isActive = false
        package private(set) var carrier: String?
        /// The layout of its updates; nil while it is not subscribed.
        package internal(set) var layout: SubscriptionLayout?
        /// The number of a shared one in the session of its carrier; nil: it cannot be continued.
        var number: UInt64?

        static let wire = Wire<Self>(
            ClusterLedger.SubscriptionEntry(properties: Wire<SubscriptionProperties>.blank),
            [
                Field(\.properties, .properties),
                Field(\.owner, .optional(.fixed64)),
                Field(\.madeAt, .varint),
                Field(\.isActive, .bool),
                Field(\.carrier, .optional(.string)),
                Field(\.number, .optional(.varint)),
                Field(\.layout, .optional(.confirmed)) { entry, layout in
                    guard let layout else { return }
                    entry.layout = SubscriptionLayout(
                        entry.properties,
                        fieldCount: layout.fieldCount,
                        keyPosition: layout.keyPosition,
                        commandPosition: layout.commandPosition
                    )
                },
            ]
        )

        mutating func note(_ change: SubscriptionChange) {
            switch change {
            case .added, .removed: break
            case .propertiesChanged(let changed): properties = changed
            case .carried(let client):
                if carrier != client?.rawValue { number = nil }
                carrier = client?.rawValue
                if client != nil { isActive = true }
            case .activity(let isActive): self.isActive = isActive
            case .event(.subscribed(_, let fields, let key, let command)):
                isActive = true
                layout = SubscriptionLayout(properties, fieldCount: fields, keyPosition: key, commandPosition: command)
            case .event(.unsubscribed(isFinal: true)), .event(.failed): (layout, number, isActive) = (nil, nil, false)
            case .event(.unsubscribed): (layout, number) = (nil, nil)
            case .event: break
            }
        }
    }

    /// A client of a member.
    package struct ClientEntry: Sendable, Equatable {
        package internal(set) var owner: UInt64
        package var status: ClientStatus
        /// The position at which it was added.
        package internal(set) var madeAt: UInt64 = 0

        static let wire = Wire<Self>(Self.init, (\.owner, .fixed64), (\.status, .raw(.string)), (\.madeAt, .varint))
    }
}
