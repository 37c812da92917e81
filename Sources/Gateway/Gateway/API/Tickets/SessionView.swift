internal import JSONText

/// The limits of a caller, and their use.
package struct CallerUse: Sendable, Equatable {
    package var streams = 0
    /// The subscriptions that the caller made or that its streams joined.
    package var subscriptions = 0
    /// The items of these subscriptions.
    package var items = 0

    package init() {}
}

/// `GET /v1/session`: the rights of the caller, and what callers use of their limits.
struct SessionView: Sendable {
    let services: Services

    /// `GET /v1/session`.
    func get(_ call: Call) throws -> OperationResult {
        let caller = call.caller
        let uses = uses(visibleTo: caller, services.permissions(call).owners)
        let response = Response.json { json in
            json.beginObject()
            json.member("identity", caller.identity)
            json.key("operations")
            json.beginArray()
            for right in Right.allCases where caller.rights.operations.contains(right) { json.string(right.rawValue) }
            json.endArray()
            json.member("controlsAll", caller.rights.reachesOverAll)
            json.key("callers")
            json.beginArray()
            for (identity, use) in uses.sorted(by: { $0.key < $1.key }) {
                write(identity, use, limits: identity == caller.identity ? caller.rights : nil, to: &json)
            }
            json.endArray()
            json.endObject()
        }
        return .response(response)
    }

    /// The caller itself, and with rights over all resources all other callers that use something.
    private func uses(visibleTo caller: Caller, _ owners: ResourceOwners) -> [String: CallerUse] {
        guard let identity = caller.identity else { return [:] }
        var uses = [identity: CallerUse()]
        for (other, count) in services.access.openStreams.all { uses[other, default: CallerUse()].streams = count }
        for (other, used) in owners.usage.all where !Caller.isAddress(other) {
            uses[other, default: CallerUse()].subscriptions = used.subscriptions
            uses[other]?.items = used.items
        }
        for (other, used) in services.coordination.uses {
            var use = uses[other, default: CallerUse()]
            use.streams = max(use.streams, used.streams)
            use.subscriptions = max(use.subscriptions, used.subscriptions)
            use.items = max(use.items, used.items)
            uses[other] = use
        }
        return caller.rights.reachesOverAll ? uses : uses.filter { $0.key == identity }
    }

    /// The limits of a caller are part of its key or token: those of others are not known here.
    private func write(_ identity: String, _ use: CallerUse, limits: Rights?, to json: inout JSONBytes) {
        json.beginObject()
        json.member("identity", identity)
        for (name, used, limit) in [
            ("streams", use.streams, limits?.streams), ("subscriptions", use.subscriptions, limits?.maxSubscriptions),
            ("items", use.items, limits?.maxItems),
        ] as [(StaticString, Int, Int?)] {
            json.key(name)
            json.beginObject()
            json.member("used", used)
            json.key("limit")
            if let limit { json.number(limit) } else { json.null() }
            json.endObject()
        }
        json.endObject()
    }
}
