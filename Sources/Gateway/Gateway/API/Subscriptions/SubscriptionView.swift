internal import JSONText
internal import SessionCore
internal import SessionPool

/// The JSON form of a subscription.
enum SubscriptionView {
    /// Writes a subscription.
    static func write(_ resource: SubscriptionResource, of pool: SessionPool, to json: inout JSONBytes) {
        let status = resource.status
        writeTagged(resource, status, of: pool, to: &json)
        writeFigures(resource, status, of: pool, to: &json)
    }

    /// A response with a subscription, and its tag.
    static func response(
        _ resource: SubscriptionResource,
        of pool: SessionPool,
        status code: Int = 200
    ) -> (response: Response, tag: EntityTag) {
        let status = resource.status
        var json = JSONBytes(capacity: Response.usualLength)
        writeTagged(resource, status, of: pool, to: &json)
        let tag = EntityTag(of: json.bytes)
        writeFigures(resource, status, of: pool, to: &json)
        return (Response(status: code, json: json), tag)
    }

    /// The tag of a subscription: over all members but `expiresIn` and the counters.
    static func tag(of resource: SubscriptionResource, in pool: SessionPool) -> EntityTag {
        var json = JSONBytes()
        writeTagged(resource, resource.status, of: pool, to: &json)
        return EntityTag(of: json.bytes)
    }

    private static func writeTagged(
        _ resource: SubscriptionResource,
        _ state: SubscriptionStatus,
        of pool: SessionPool,
        to json: inout JSONBytes
    ) {
        json.beginObject()
        writeHome(resource, of: pool, to: &json)
        write(resource.properties, to: &json)
        json.member("shared", resource.isImplicit)
        json.member("active", state.isActive)
        json.member("subscribed", state.isSubscribed)
        json.key("lastError")
        json.write(state.lastError)
        json.member("itemCount", state.itemCount)
        json.member("fieldCount", state.fieldCount)
        json.member("keyPosition", state.keyPosition)
        json.member("commandPosition", state.commandPosition)
        json.key("realMaxFrequency")
        json.write(state.realMaxFrequency)
        json.member("ttl", pool.lifetime(of: resource)?.roundedSeconds)
    }

    private static func writeFigures(
        _ resource: SubscriptionResource,
        _ state: SubscriptionStatus,
        of pool: SessionPool,
        to json: inout JSONBytes
    ) {
        json.member("expiresIn", pool.timeLeft(of: resource)?.roundedSeconds)
        json.key("counters")
        json.beginObject()
        json.member("updates", state.updates)
        json.member("lostUpdates", state.lostUpdates)
        json.member("subscribed", state.confirmations)
        json.endObject()
        json.endObject()
    }

    private static func writeHome(
        _ resource: SubscriptionResource,
        of pool: SessionPool,
        to json: inout JSONBytes
    ) {
        json.member("id", resource.id.rawValue)
        switch resource.home {
        case .pooled(let key):
            json.member("upstream", key.upstream)
            json.member("client", resource.client?.id.rawValue)
        case .dedicated(let id):
            json.member("upstream", pool.client(id)?.upstream)
            json.member("client", id.rawValue)
        }
    }

    private static func write(_ properties: SubscriptionProperties, to json: inout JSONBytes) {
        json.member("mode", properties.mode.rawValue)
        json.member("items", properties.items.shownNames)
        json.member("itemGroup", properties.items.groupName)
        json.member("fields", properties.fields.shownNames)
        json.member("fieldSchema", properties.fields.groupName)
        json.member("dataAdapter", properties.dataAdapter)
        json.member("selector", properties.selector)
        json.key("requestedSnapshot")
        json.write(properties.requestedSnapshot)
        json.key("requestedMaxFrequency")
        json.write(properties.requestedMaxFrequency)
        json.key("requestedBufferSize")
        json.write(properties.requestedBufferSize)
        json.member("commandSecondLevelFields", properties.secondLevelFields?.shownNames)
        json.member("commandSecondLevelFieldSchema", properties.secondLevelFields?.groupName)
        json.member("commandSecondLevelDataAdapter", properties.secondLevelDataAdapter)
    }
}

extension NameSource {
    /// The names of a list; nil if it is empty.
    var shownNames: [String]? { names.flatMap { $0.isEmpty ? nil : $0 } }

    /// The name of a group.
    var groupName: String? {
        if case .group(let name) = self { name } else { nil }
    }

    /// Whether it is an empty list.
    var isUnset: Bool { names?.isEmpty ?? false }
}
