internal import Changes

/// `GET /v1/values`: reads the values of a subscription in one request, which joins the shared subscription, waits for
/// its snapshot and leaves it.
struct CurrentValuesResource: Sendable {
    let services: Services

    /// `GET /v1/values`.
    func get(_ call: Call) async throws -> OperationResult {
        try await read(try ValuesQuery(call, services.sourceDefaults(for: call)), call)
    }

    /// A handler that answers a request as an equal one of the last second was answered, if the caller may read the same.
    func repeated(or handler: @escaping Operation.WaitingHandler) -> Operation.Handler {
        { call in
            guard let reading = reading(repeatedBy: call) else { return .later { try await handler(call) } }
            // The quotas of a caller without identity are those of this process, so that nothing has to be admitted; without a
            // tag, no gateway has given the caller newer values.
            if call.caller.identity == nil, call.header("If-None-Match") == nil,
                let response = try reading.response(to: call, services)
            {
                return .response(response)
            }
            return .later { try await read(reading.query, call, reading) }
        }
    }

    /// The reading of an equal request, if the caller may read the same; nil: none.
    private func reading(repeatedBy call: Call) -> RecentReadings.Reading? {
        guard call.header("Prefer") == nil, !services.process.isStopping, let reading = services.recentReadings[call],
            reading.isValid(under: services.current.version), sees(reading.query.feed, call),
            (try? StreamOpener(services: services).check([reading.query.selector], call)) != nil
        else { return nil }
        return reading
    }

    /// Whether the caller sees the feed that a request names, and not only its data, by another feed.
    private func sees(_ form: FeedForm?, _ call: Call) -> Bool {
        form.map { services.permissions(call).sees($0.feed) } ?? true
    }

    /// Reads the values of a subscription.
    ///
    /// - Parameter reading: That of an equal request, if the caller's rights to it are checked.
    func read(
        _ query: ValuesQuery,
        _ call: Call,
        _ reading: RecentReadings.Reading? = nil
    ) async throws -> OperationResult {
        if services.process.isStopping { throw Problem.stopping }
        let opener = StreamOpener(services: services)
        if reading == nil { try opener.check([query.selector], call) }
        // Another gateway may have given the caller the values that it knows: older ones would be a response to it.
        if query.cursor != nil || call.header("If-None-Match") != nil { await services.coordination.catchUp() }
        return try await services.coordination.admit(.sources([query.selector], of: call.caller), for: call) {
            if let response = try reading?.response(to: call, services) { return .response(response) }
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
