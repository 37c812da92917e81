internal import Changes
internal import JSONText
internal import SessionCore

/// The members of a subscription's events.
extension EventEncoder {
    mutating func writeMembers(of event: SubscriptionEvent, _ context: TopicContext, _ variant: EventVariant) {
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            json.member("itemCount", itemCount)
            json.member("fieldCount", fieldCount)
            json.member("keyPosition", keyPosition)
            json.member("commandPosition", commandPosition)
            json.member("fieldKeys", context.naming?.usesNames == false ? "position" : "name")
        case .unsubscribed(let isFinal):
            json.member("active", !isFinal)
        case .update(let update):
            writeUpdate(update, context, variant)
        case .endOfSnapshot(let item), .clearSnapshot(let item):
            writeItem(item, context)
        case .lostUpdates(let count, let item):
            writeLoss(of: count, item: item, by: "server", context)
        case .failed(let code, let message):
            json.member("code", code)
            json.member("message", message)
            json.member("type", refusalText.type)
            json.member("detail", refusalText.detail(UpstreamRefusal(code: code, message: message)))
        case .secondLevelFailed(let code, let message, let key):
            json.member("key", key)
            json.member("code", code)
            json.member("message", message)
        case .secondLevelLostUpdates(let count, let key):
            json.member("key", key)
            json.member("count", count)
        case .realMaxFrequency(let frequency):
            json.key("value" as StaticString)
            json.write(frequency)
        }
    }

    mutating func writeConflated(_ update: ConflatedUpdate, _ context: TopicContext, _ variant: EventVariant) {
        let newest = update.newest
        writeItem(newest.itemPos, context)
        json.member("snapshot", update.isSnapshot)
        if context.policy == .conflateByKey {
            json.member("key", newest.key)
            json.member("command", update.command)
        }
        json.key("fields" as StaticString)
        writeFields(newest.values, context, only: update.changed)
        json.member("conflated", update.count)
        if variant.sendsAllFields {
            json.key("values" as StaticString)
            writeFields(newest.values, context, only: nil)
        }
        if !invalid.isEmpty { writeInvalid(context) }
    }
}
