internal import JSONText
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// `/v1/subscriptions/{id}/values` and the paths below it.
struct ValuesResource: Sendable {
    let services: Services

    /// Finds the target in a view; throws if it does not exist.
    private typealias Selection = @Sendable (ValuesView) throws -> ValuesTarget

    /// `GET …/values`, with or without a query.
    func query(_ call: Call) throws -> OperationResult {
        var reader = QueryReader(call.query)
        let item = selector(&reader, "item", "itemPos")
        let field = selector(&reader, "field", "fieldPos")
        let key = reader.text("key")
        try reader.finish()
        guard let item else {
            guard field == nil, key == nil else {
                let rule = "A field or key needs an item: item or itemPos is required."
                throw Problem(.unknownItem, detail: rule).at(.parameter("item"))
            }
            return try reply(call) { _ in .table }
        }
        return try reply(call) { view in
            if key != nil { try view.checkCommand() }
            let item = try item.item(in: view)
            guard let field = try field?.field(in: view) else {
                guard let key else { return .item(item) }
                return .key(item, key)
            }
            return .value(item, field: field, key: key)
        }
    }

    /// `GET …/values/{item}`.
    func item(_ call: Call) throws -> OperationResult {
        let item = call.parameter("item")
        return try reply(call) { .item(try $0.item(item)) }
    }

    /// `GET …/values/{item}/keys`: the keys of an item; in modes other than COMMAND, the field of the name `keys`.
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
            return .key(try view.item(item), key)
        }
    }

    /// `GET …/values/{item}/keys/{key}/{field}`.
    func keyField(_ call: Call) throws -> OperationResult {
        let (item, key, field) = (call.parameter("item"), call.parameter("key"), call.parameter("field"))
        return try reply(call) { view in
            try view.checkCommand()
            return .value(try view.item(item), field: try view.field(field), key: key)
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

    /// How long it takes to write a part of a table.
    private func writing(_ find: Selection, _ view: ValuesView) -> WorkSize {
        let table = view.table
        guard table.writing != .small, let target = try? find(view) else { return .small }
        return switch target {
        case .table:
            if case .whole = services.encodedTables[tag(of: view)] { .small } else { table.writing }
        case .item(let item), .keys(let item): table.writing(item: item)
        case .key(let item, let key): table.writing(item: item, key: key)
        case .value(let item, let field, let key): table.writing(item: item, field: field, key: key)
        }
    }

    /// Responds at once or, in a long poll, when the tag changes.
    private func reply(_ call: Call, _ find: @escaping Selection) throws -> OperationResult {
        let resource = try services.subscription(call)
        let view = ValuesView(resource, now: services.clock())
        let size = writing(find, view)
        guard call.header("If-None-Match") != nil, let wait = PreferHeader(call.header("Prefer")).wait else {
            if size == .small { return .response(try response(view, call, find)) }
            return .later {
                try await services.background.perform(for: call, size) {
                    .response(try response(ValuesView(resource, now: services.clock()), call, find))
                }
            }
        }
        let part = PolledPart()
        let polled: @Sendable (Call) -> Response = { call in
            self.polled(resource, ValuesView(resource, now: services.clock()), call, wait, find)
        }
        let present: @Sendable () -> Response = { polled(call) }
        let rules = SharedDecision.Rules(response: polled) { (try? services.subscription($0)) != nil }
        var isQuick = false
        if size == .small {
            let first = try response(view, call, find)
            guard first.status == 304, wait > 0 else { return .response(first.waited(wait)) }
            part.note(try find(view), in: view)
            isQuick = first.body.count <= Self.quickLength
        } else if wait <= 0 {
            return .later { try await services.background.perform(for: call, size) { .response(present()) } }
        }
        if isQuick {
            return try services.wait(
                call,
                upTo: wait,
                on: resource.watchers,
                decide: { changed(resource, part, call, wait, find) },
                timedOut: present,
                sharing: rules
            )
        }
        return try services.wait(
            call,
            upTo: wait,
            on: resource.watchers,
            isKnown: { !resource.isDeleted && part.isKnown(in: ValuesView(resource, now: .zero)) },
            decideOn: services.background.queue(for: size),
            { changed(resource, part, call, wait, find) },
            timedOut: present,
            sharing: size == .large ? nil : rules
        )
    }

    /// The length of the longest JSON that the thread of an upstream session writes for a long poll, in bytes.
    private static let quickLength = 4096

    /// The response of a long poll to a change; nil if its part of the values is the one that the client knows.
    private func changed(
        _ resource: SubscriptionResource,
        _ part: PolledPart,
        _ call: Call,
        _ wait: Int,
        _ find: Selection
    ) -> Response? {
        let view = ValuesView(resource, now: services.clock())
        if !resource.isDeleted, part.isKnown(in: view) { return nil }
        let response = polled(resource, view, call, wait, find)
        guard response.status == 304 else { return response }
        if let target = try? find(view) { part.note(target, in: view) }
        return nil
    }

    /// The response of a long poll with the values of a view.
    private func polled(
        _ resource: SubscriptionResource,
        _ view: ValuesView,
        _ call: Call,
        _ wait: Int,
        _ find: Selection
    ) -> Response {
        let id = resource.id.rawValue
        if resource.isDeleted { return services.response(to: call, waiting: wait, for: .unknownSubscription(id), id) }
        do {
            return try response(view, call, find).waited(wait)
        } catch {
            return ProblemDetails.response(to: call, for: error).waited(wait)
        }
    }

    private func response(_ view: ValuesView, _ call: Call, _ find: Selection) throws -> Response {
        switch try find(view) {
        case .table:
            _ = try call.mediaType(outOf: "application/json")
            return try table(view, call)
        case .item(let item):
            _ = try call.mediaType(outOf: "application/json")
            return try part(item, of: view, for: call) { view.writeMembers(of: item, to: &$0) }
        case .keys(let item):
            _ = try call.mediaType(outOf: "application/json")
            return try part(item, of: view, for: call) { view.writeKeys(of: item, to: &$0) }
        case .key(let item, let key):
            _ = try call.mediaType(outOf: "application/json")
            return try part(item, of: view, for: call) { view.writeKey(key, of: item, to: &$0) }
        case .value(let item, let field, let key):
            let value = view.value(item: item, field: field, key: key)
            let isJSON = try call.mediaType(outOf: "application/json", "text/plain") == "application/json"
            let plain = isJSON ? nil : Optional(value)
            return try part(item, of: view, plain: plain, for: call) { $0.member("value", value) }
                .with("Vary", "Accept")
        }
    }

    /// The whole table. Its tag is the version of the subscription, so that a response for a version that was encoded
    /// before requires no JSON.
    private func table(_ view: ValuesView, _ call: Call) throws -> Response {
        let tag = tag(of: view)
        let isKnown = try tag.isKnown(to: call)
        let table: EncodedTable
        switch services.encodedTables[tag] {
        case .length(let length) where isKnown: return .notModified(tag, length: length + view.agesLength)
        case .whole(let kept): table = kept
        case .length, nil:
            if view.table.isLonger(than: ValuesView.mostTableBytes) { throw Self.tooLarge }
            table = view.encodedTable()
            services.encodedTables.keep(table, tag: tag)
        }
        let length = table.length(at: view.now)
        guard length <= ValuesView.mostTableBytes else { throw Self.tooLarge }
        if isKnown { return .notModified(tag, length: length) }
        return Response(status: 200, mediaType: "application/json", body: table.json(at: view.now))
            .tagged(tag, isKnown: false)
    }

    private func tag(of view: ValuesView) -> EntityTag {
        EntityTag("\(view.subscription)-\(view.status.version)-\(view.staleness)", isWeak: true)
    }

    private static let tooLarge = Problem(.invalidValue, detail: "The values are too large: select a part of them.")

    /// A part of the table: an object with the members that `write` writes and an age. Its tag is a hash of the object
    /// without the age, so that changes of other items do not end a long poll. The tag is weak, because ages differ
    /// between equal states.
    ///
    /// - Parameter plain: The value of a response in `text/plain`, inner nil: there is none; outer nil: JSON.
    private func part(
        _ item: Int,
        of view: ValuesView,
        plain: String?? = nil,
        for call: Call,
        _ write: (inout JSONBytes) -> Void
    ) throws(Problem) -> Response {
        var json = JSONBytes(capacity: ValuesView.usualPartBytes)
        json.beginObject()
        write(&json)
        guard json.bytes.count <= ValuesView.mostTableBytes else { throw Self.tooLarge }
        // Each media type has tags of its own: a cache must not use the response of one media type for another.
        let form = plain == nil ? "" : "-text"
        let tag = EntityTag(EntityTag(of: json.bytes).opaque + "-" + view.staleness + form, isWeak: true)
        if let plain {
            let response =
                plain.map { Response(status: 200, mediaType: "text/plain; charset=utf-8", body: Array($0.utf8)) }
            return try (response ?? Response(status: 204)).tagged(tag, isKnown: tag.isKnown(to: call))
        }
        view.writeAge(item, to: &json)
        json.endObject()
        return try Response(json: json).tagged(tag, isKnown: tag.isKnown(to: call))
    }

    // MARK: - Selection by query

    /// An item or field by name, by position, or by both, which must agree.
    private struct NameOrPosition: Sendable {
        let name: String?
        let position: Int?

        func item(in view: ValuesView) throws -> Int {
            try ProblemDetails.lookUp(.parameter("itemPos")) {
                let named = try ProblemDetails.lookUp(.parameter("item")) { try name.map(view.item) }
                if let position { try view.check(item: position) }
                return try agreed(named, or: .unknownItem)
            }
        }

        func field(in view: ValuesView) throws -> Int {
            try ProblemDetails.lookUp(.parameter("fieldPos")) {
                let named = try ProblemDetails.lookUp(.parameter("field")) { try name.map(view.field) }
                if let position { try view.check(field: position) }
                return try agreed(named, or: .unknownField)
            }
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
