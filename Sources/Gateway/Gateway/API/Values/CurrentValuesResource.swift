internal import Changes
internal import SessionPool

/// `GET /v1/values`: reads the values of a subscription in one request, which joins the shared subscription, waits for
/// its snapshot and leaves it.
struct CurrentValuesResource: Sendable {
    let services: Services

    /// `GET /v1/values`.
    func get(_ call: Call) throws -> OperationResult {
        try read(try ValuesQuery(call, services.sourceDefaults), call)
    }

    /// Reads the values of a subscription.
    func read(_ query: ValuesQuery, _ call: Call) throws -> OperationResult {
        if services.process.isStopping { throw Problem.stopping }
        let opener = StreamOpener(services: services)
        try opener.check([query.selector], call)
        return try services.coordination.admit(.sources([query.selector], of: call.caller), for: call) { admission in
            defer { admission.end() }
            let acquired = try opener.acquire([query.selector], for: call.caller)
            guard let (topic, joined) = acquired.joined.first else { throw Problem(.internal) }
            let reading = OneTimeReading(
                services: services,
                call: call,
                query: query,
                topic: SubscriptionID(topic),
                joined: joined
            )
            return try reading.begin()
        }
    }
}
