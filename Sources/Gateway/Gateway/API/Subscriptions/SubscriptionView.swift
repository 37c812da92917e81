internal import Changes
internal import JSONText
internal import SessionCore
internal import SessionPool

struct SubscriptionView {
    private let resource: SubscriptionResource
    private let pool: SessionPool
    private let present: SubscriptionResource.State

    init(_ resource: SubscriptionResource, of pool: SessionPool) {
        self.resource = resource
        self.pool = pool
        present = resource.present
    }

    func write(to json: inout JSONBytes) {
        writeTagged(to: &json)
        writeFigures(to: &json)
    }

    func response(status code: Int = 200) -> (response: Response, tag: EntityTag) {
        var json = JSONBytes(capacity: Response.usualLength)
        writeTagged(to: &json)
        let tag = EntityTag(of: json.bytes)
        writeFigures(to: &json)
        return (Response(status: code, json: json), tag)
    }

    /// The tag of the subscription: over all members but `expiresIn` and the counters.
    var tag: EntityTag {
        var json = JSONBytes()
        writeTagged(to: &json)
        return EntityTag(of: json.bytes)
    }

    private func writeTagged(to json: inout JSONBytes) {
        let status = present.status
        json.beginObject()
        json.member("id", resource.id.rawValue)
        switch resource.home {
        case .pooled(let key):
            json.member("upstream", key.upstream)
            json.member("client", present.client?.id.rawValue)
        case .dedicated(let id):
            json.member("upstream", pool.client(id)?.upstream)
            json.member("client", id.rawValue)
        }
        writeProperties(to: &json)
        json.member("shared", resource.isImplicit)
        json.member("active", status.isActive)
        json.member("subscribed", status.isSubscribed)
        json.member("lastError", status.lastError)
        json.member("itemCount", status.itemCount)
        json.member("fieldCount", status.fieldCount)
        json.member("keyPosition", status.keyPosition)
        json.member("commandPosition", status.commandPosition)
        json.member("realMaxFrequency", status.realMaxFrequency)
        let lifetime = resource.isImplicit ? nil : present.lifetime(pool.settings.configuration.subscriptionIdle)
        json.member("ttl", lifetime?.roundedSeconds)
    }

    private func writeFigures(to json: inout JSONBytes) {
        json.member("expiresIn", pool.timeLeft(of: resource)?.roundedSeconds)
        json.key("counters" as StaticString)
        json.beginObject()
        json.member("updates", present.status.updates)
        json.member("lostUpdates", present.status.lostUpdates)
        json.member("subscribed", present.status.confirmations)
        json.endObject()
        json.endObject()
    }

    private func writeProperties(to json: inout JSONBytes) {
        let properties = present.properties
        json.member("mode", properties.mode.rawValue)
        json.member("items", properties.items.listedNames)
        json.member("itemGroup", properties.items.groupName)
        json.member("fields", properties.fields.listedNames)
        json.member("fieldSchema", properties.fields.groupName)
        json.member("dataAdapter", properties.dataAdapter)
        json.member("selector", properties.selector)
        json.member("requestedSnapshot", properties.requestedSnapshot)
        json.member("requestedMaxFrequency", properties.requestedMaxFrequency)
        json.member("requestedBufferSize", properties.requestedBufferSize)
        json.member("commandSecondLevelFields", properties.secondLevelFields?.listedNames)
        json.member("commandSecondLevelFieldSchema", properties.secondLevelFields?.groupName)
        json.member("commandSecondLevelDataAdapter", properties.secondLevelDataAdapter)
    }
}
