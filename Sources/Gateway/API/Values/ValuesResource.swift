internal import JSONText
internal import SessionCore
internal import SessionPool

/// `/v1/subscriptions/{id}/values` and the paths below it.
struct ValuesResource: Sendable {
    let services: Services

    /// The part of the values that a request selects.
    private enum Target: Sendable {
        case table
        case item(Int)
        case keys(Int)
        case key(Int, String)
        case value(Int, field: Int, key: String?)
    }

    /// Finds the target in a view; throws if it does not exist.
    private typealias Selection = @Sendable (ValuesView) throws -> Target

    /// `GET …/values`, with or without a query.
    func query(_ call: Call) throws -> OperationResult {
        var reader = QueryReader(call.query)
        let item = selector(&reader, "item", "itemPos")
        let field = selector(&reader, "field", "fieldPos")
        let key = reader.text("key")
        try reader.finish()
        guard let item else {
            guard field == nil, key == nil else {
                throw Problem(.unknownItem, detail: "A field or key needs an item: item or itemPos is required.")
            }
            return try reply(call) { _ in .table }
        }
        return try reply(call) { view in
            if key != nil { try view.checkCommand() }
            let item = try item.item(in: view)
            guard let field = try field?.field(in: view) else {
                guard let key else { return .item(item) }
                try view.check(key: key, item: item)
                return .key(item, key)
            }
            if let key { try view.check(key: key, item: item) }
            return .value(item, field: field, key: key)
        }
    }

    /// `GET …/values/{item}`.
    func item(_ call: Call) throws -> OperationResult {
        let item = call.parameter("item")
        return try reply(call) { .item(try $0.item(item)) }
    }

    /// `GET …/values/{item}/keys`: in other modes than COMMAND the field of that name.
    func keys(_ call: Call) throws -> OperationResult {
        let item = call.parameter("item")
        return try reply(call) { view in
            let item = try view.item(item)
            return view.isCommand ? .keys(item) : .value(item, field: try view.field("keys"), key: nil)
        }
    }

    /// `GET …/values/{item}/keys/{key}`.
    func key(_ call: Call) throws -> OperationResult {
        let (item, key) = (call.parameter("item"), call.parameter("key"))
        return try reply(call) { view in
            try view.checkCommand()
            let item = try view.item(item)
            try view.check(key: key, item: item)
            return .key(item, key)
        }
    }

    /// `GET …/values/{item}/keys/{key}/{field}`.
    func keyField(_ call: Call) throws -> OperationResult {
        let (item, key, field) = (call.parameter("item"), call.parameter("key"), call.parameter("field"))
        return try reply(call) { view in
            try view.checkCommand()
            let item = try view.item(item)
            let field = try view.field(field)
            try view.check(key: key, item: item)
            return .value(item, field: field, key: key)
        }
    }

    /// `GET …/values/{item}/{field}`.
    func field(_ call: Call) throws -> OperationResult {
        let (item, field) = (call.parameter("item"), call.parameter("field"))
        return try reply(call) { view in
            .value(try view.item(item), field: try view.field(field), key: nil)
        }
    }

    // MARK: - Responses

    /// The number of values from which a table is left to the background queue: it takes about 10 ms to write.
    private static let largeCount = 50_000

    /// Responds at once or, in a long poll, when the tag changes.
    private func reply(_ call: Call, _ find: @escaping Selection) throws -> OperationResult {
        let resource = try services.subscription(call)
        let isLarge = call.parameters["item"] == nil && resource.cellCount > Self.largeCount
        guard call.header("If-None-Match") != nil, let wait = PreferHeader(call.header("Prefer")).wait else {
            return try services.perform(call, isLarge: isLarge) { try response(resource, call, find) }
        }
        let present: @Sendable () -> Response = {
            do {
                if resource.isDeleted { throw PoolError.unknownSubscription(resource.id.rawValue) }
                return try response(resource, call, find).waited(wait)
            } catch {
                let problem = ProblemDetails.problem(for: error)
                return ProblemDetails.response(problem, requestID: call.requestID).waited(wait)
            }
        }
        let changed: @Sendable () -> Response? = {
            let response = present()
            return response.status == 304 ? nil : response
        }
        if isLarge {
            return try services.wait(
                call,
                upTo: wait,
                on: resource.watchers,
                present: { resource.status },
                decideInBackground: changed,
                timedOut: present
            )
        }
        let first = try response(resource, call, find)
        guard first.status == 304 else { return .response(first) }
        return try services.wait(
            call,
            upTo: wait,
            on: resource.watchers,
            present: { resource.status },
            decide: { _ in changed() },
            timedOut: present
        )
    }

    private func response(_ resource: SubscriptionResource, _ call: Call, _ find: Selection) throws -> Response {
        let view = ValuesView(resource, now: services.clock())
        let target = try find(view)
        let acceptance = AcceptHeader(call.header("Accept"))
        let tag = tag(of: target, in: view)
        let ifNoneMatch = call.header("If-None-Match")
        guard case .value(let item, let field, let key) = target else {
            _ = try acceptance.choose(["application/json"])
            let response = Response.json { write(target, of: view, to: &$0) }
            guard response.body.count <= ValuesView.mostTableBytes else {
                throw Problem(.invalidValue, detail: "The values of the subscription are too large: select an item.")
            }
            return response.tagged(tag, ifNoneMatch: ifNoneMatch)
        }
        let value = view.value(item: item, field: field, key: key)
        if try acceptance.choose(["application/json", "text/plain"]) == "application/json" {
            return Response.json { view.writeValue(value, item: item, to: &$0) }
                .tagged(tag, ifNoneMatch: ifNoneMatch).with("Vary", "Accept")
        }
        let plain =
            value.map { Response(status: 200, mediaType: "text/plain; charset=utf-8", body: Array($0.utf8)) }
            ?? Response(status: 204)
        return plain.tagged(tag, ifNoneMatch: ifNoneMatch).with("Vary", "Accept")
    }

    private func write(_ target: Target, of view: ValuesView, to json: inout JSONBytes) {
        switch target {
        case .table: view.writeTable(to: &json)
        case .item(let item): view.writeItem(item, to: &json)
        case .keys(let item): view.writeKeys(item, to: &json)
        case .key(let item, let key): view.writeKey(key, item: item, to: &json)
        case .value(let item, let field, let key):
            view.writeValue(view.value(item: item, field: field, key: key), item: item, to: &json)
        }
    }

    /// The tag of a target: of the whole table the version of the subscription, of a part a hash of that part, so that
    /// changes of other items do not end a long poll. Weak, because ages differ between equal states.
    private func tag(of target: Target, in view: ValuesView) -> EntityTag {
        let staleness = view.reading.isStale ? "s" : "f"
        if case .table = target {
            return EntityTag("\(view.subscription)-\(view.reading.status.version)-\(staleness)", isWeak: true)
        }
        var json = JSONBytes()
        write(target, of: view.ageless, to: &json)
        return EntityTag("\(EntityTag(of: json.bytes).opaque)-\(staleness)", isWeak: true)
    }

    // MARK: - Selection by query

    /// An item or field by name, by position, or by both, which must agree.
    private struct NameOrPosition: Sendable {
        let name: String?
        let position: Int?

        func item(in view: ValuesView) throws(Problem) -> Int {
            let named = try name.map { name throws(Problem) in try view.item(name) }
            if let position { try view.check(item: position) }
            return try agreed(named, or: .unknownItem)
        }

        func field(in view: ValuesView) throws(Problem) -> Int {
            let named = try name.map { name throws(Problem) in try view.field(name) }
            if let position { try view.check(field: position) }
            return try agreed(named, or: .unknownField)
        }

        private func agreed(_ named: Int?, or code: ProblemCode) throws(Problem) -> Int {
            guard let result = named ?? position, result == position ?? result else {
                throw Problem(code, detail: "The name and the position do not agree.")
            }
            return result
        }
    }

    private func selector(_ reader: inout QueryReader, _ name: String, _ position: String) -> NameOrPosition? {
        let selector = NameOrPosition(
            name: reader.name(name),
            position: reader.integer(position, in: 1...Int(Int32.max))
        )
        return selector.name == nil && selector.position == nil ? nil : selector
    }
}

extension SubscriptionResource {
    /// The number of values in the table, without those of keys.
    fileprivate var cellCount: Int {
        let table = reading.table
        return (table.itemBound ?? 0).multipliedReportingOverflow(by: table.fieldBound ?? 0).partialValue
    }
}
