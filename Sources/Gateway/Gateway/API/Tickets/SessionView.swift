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
        let response = Response.object { json in
            json.member("identity", caller.identity)
            let rights = Right.allCases.filter(caller.rights.operations.contains)
            json.member("operations", Optional(rights.map(\.rawValue)))
            json.member("controlsAll", caller.rights.reachesOverAll)
            json.objects("callers", of: uses.sorted { $0.key < $1.key }) { json, entry in
                let limits = entry.key == caller.identity ? caller.rights : nil
                write(entry.key, entry.value, limits: limits, to: &json)
            }
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
        json.member("identity", identity)
        for (name, used, limit) in [
            ("streams", use.streams, limits?.streams), ("subscriptions", use.subscriptions, limits?.maxSubscriptions),
            ("items", use.items, limits?.maxItems),
        ] as [(StaticString, Int, Int?)] {
            json.object(name) { json in
                json.member("used", used)
                json.member("limit", limit)
            }
        }
    }
}
