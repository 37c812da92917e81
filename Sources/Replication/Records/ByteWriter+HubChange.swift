internal import EventHub
internal import JSONText
internal import SessionCore

/// One byte for each case of a `HubChange`; numbers are never reused.
enum ChangeTag {
    static let clientAdded: UInt8 = 1
    static let clientRemoved: UInt8 = 2
    static let subscriptionAdded: UInt8 = 3
    static let subscriptionRemoved: UInt8 = 4
    static let carried: UInt8 = 5
    static let activity: UInt8 = 6
    static let clientEvent: UInt8 = 7
    static let subscriptionEvent: UInt8 = 8
    static let propertiesChanged: UInt8 = 9
}

extension ByteWriter {
    mutating func change(_ change: HubChange) {
        switch change {
        case .clientAdded(let id, let status):
            tagged(ChangeTag.clientAdded, id)
            string(status.rawValue)
        case .clientRemoved(let id):
            tagged(ChangeTag.clientRemoved, id)
        case .subscriptionAdded(let id, let properties):
            tagged(ChangeTag.subscriptionAdded, id)
            self.properties(properties)
        case .subscriptionRemoved(let id):
            tagged(ChangeTag.subscriptionRemoved, id)
        case .propertiesChanged(let id, let properties):
            tagged(ChangeTag.propertiesChanged, id)
            self.properties(properties)
        case .carried(let id, let client):
            tagged(ChangeTag.carried, id)
            optional(client) { $0.string($1) }
        case .activity(let id, let isActive):
            tagged(ChangeTag.activity, id)
            bool(isActive)
        case .event(let event, .client(let id)):
            tagged(ChangeTag.clientEvent, id)
            clientEvent(event)
        case .event(.subscription(let event), .subscription(let id)):
            tagged(ChangeTag.subscriptionEvent, id)
            subscriptionEvent(event)
        case .event(_, .subscription):
            preconditionFailure("a client's event was published to a subscription")
        }
    }

    private mutating func tagged(_ tag: UInt8, _ id: String) {
        byte(tag)
        string(id)
    }

    mutating func properties(_ properties: SubscriptionProperties) {
        string(properties.mode.rawValue)
        names(properties.items)
        names(properties.fields)
        optional(properties.dataAdapter) { $0.string($1) }
        optional(properties.selector) { $0.string($1) }
        optional(properties.requestedSnapshot) { writer, snapshot in
            switch snapshot {
            case .no: writer.signed(-1)
            case .yes: writer.signed(0)
            case .length(let length): writer.signed(length)
            }
        }
        optional(properties.requestedMaxFrequency) { writer, frequency in
            switch frequency {
            case .unfiltered: writer.double(-2)
            case .unlimited: writer.double(-1)
            case .limited(let value): writer.double(value)
            }
        }
        optional(properties.requestedBufferSize) { writer, size in
            switch size {
            case .unlimited: writer.signed(-1)
            case .limited(let value): writer.signed(value)
            }
        }
        optional(properties.secondLevelFields) { $0.names($1) }
        optional(properties.secondLevelDataAdapter) { $0.string($1) }
    }

    private mutating func names(_ source: NameSource) {
        switch source {
        case .list(let names):
            byte(0)
            list(names) { $0.string($1) }
        case .group(let name):
            byte(1)
            string(name)
        }
    }

    mutating func subscriptionEvent(_ event: SubscriptionEvent) {
        switch event {
        case .subscribed(let items, let fields, let key, let command):
            byte(1)
            signed(items)
            signed(fields)
            optional(key) { $0.signed($1) }
            optional(command) { $0.signed($1) }
        case .unsubscribed(let isFinal):
            byte(2)
            bool(isFinal)
        case .failed(let code, let message):
            byte(3)
            signed(code)
            string(message)
        case .update(let update):
            byte(4)
            self.update(update)
        case .endOfSnapshot(let item):
            byte(5)
            signed(item)
        case .clearSnapshot(let item):
            byte(6)
            signed(item)
        case .lostUpdates(let count, let item):
            byte(7)
            signed(count)
            signed(item)
        case .secondLevelFailed(let code, let message, let key):
            byte(8)
            signed(code)
            string(message)
            string(key)
        case .secondLevelLostUpdates(let count, let key):
            byte(9)
            signed(count)
            string(key)
        case .realMaxFrequency(let frequency):
            byte(10)
            optional(frequency) { $0.frequency($1) }
        }
    }

    /// An update contains all values, so that it can be read without the earlier ones.
    private mutating func update(_ update: ItemUpdate) {
        signed(update.itemPos)
        bool(update.isSnapshot)
        row(update.values)
        list(update.changed.positions) { $0.varint(UInt64($1)) }
        list(update.patches.sorted { $0.key < $1.key }) { writer, patch in
            writer.signed(patch.key)
            writer.string(patch.value)
        }
        optional(update.itemRow) { $0.row($1) }
    }

    /// A value is preceded by its length plus one; null is 0.
    private mutating func row(_ values: [String?]) {
        list(values) { writer, value in
            guard let value else { return writer.varint(0) }
            writer.varint(UInt64(value.utf8.count) + 1)
            writer.raw(value)
        }
    }

    private mutating func frequency(_ frequency: RealMaxFrequency) {
        switch frequency {
        case .unlimited: double(-1)
        case .limited(let value): double(value)
        }
    }

    private mutating func clientEvent(_ event: HubEvent) {
        switch event {
        case .status(let status):
            byte(1)
            string(status.rawValue)
        case .serverError(let code, let message):
            byte(2)
            signed(code)
            string(message)
        case .property(let name, let value):
            byte(3)
            string(name)
            optional(value) { writer, value in
                var json = JSONBytes()
                json.value(value)
                writer.blob(json.bytes)
            }
        case .message(let id, let outcome):
            byte(4)
            string(id)
            self.outcome(outcome)
        case .legacy(let event):
            byte(5)
            legacy(event)
        case .subscription:
            preconditionFailure("a subscription's event was published to a client")
        }
    }

    private mutating func outcome(_ outcome: MessageOutcome) {
        switch outcome {
        case .processed(let response):
            byte(1)
            string(response)
        case .denied(let code, let message):
            byte(2)
            signed(code)
            string(message)
        case .discarded: byte(3)
        case .failed: byte(4)
        case .aborted(let sentOnNetwork):
            byte(5)
            bool(sentOnNetwork)
        }
    }

    private mutating func legacy(_ event: LegacyStreamEvent) {
        switch event {
        case .connectionEstablished: byte(1)
        case .sessionStarted(let polling):
            byte(2)
            bool(polling)
        case .bytesReceived(let count):
            byte(3)
            signed(count)
        case .activityWarning(let isSilent):
            byte(4)
            bool(isSilent)
        case .connectionClosed: byte(5)
        case .connectionEnded(let cause):
            byte(6)
            signed(cause)
        case .connectionFailure(let reason):
            byte(7)
            string(reason)
        case .serverFailure(let code, let message):
            byte(8)
            signed(code)
            string(message)
        case .dataError(let reason):
            byte(9)
            string(reason)
        case .deviceTokenChange(let deviceID, let code, let message):
            byte(10)
            optional(deviceID) { $0.string($1) }
            optional(code) { $0.signed($1) }
            optional(message) { $0.string($1) }
        case .badgeReset(let code, let message):
            byte(11)
            optional(code) { $0.signed($1) }
            optional(message) { $0.string($1) }
        }
    }
}
