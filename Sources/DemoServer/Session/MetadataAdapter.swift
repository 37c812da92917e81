internal import JSONText
internal import TLCP

/// The metadata adapter: authentication, messages, and the meaning of groups, schemas and selectors.
struct MetadataAdapter: Sendable {
    /// The texts of the last accepted messages, oldest first; `DemoServerConfiguration.keptMessages` at most.
    private(set) var messages: [String] = []
    /// The number of accepted messages.
    private(set) var messageCount = 0
    /// The texts that take the place of other texts of messages.
    private var responses: [String: String] = [:]
    private let keptMessages: Int
    private let adapterSets: Set<String>
    private let users: [String: String]?
    private let limits: ServerLimits

    init(_ configuration: DemoServerConfiguration) {
        adapterSets = configuration.adapterSets
        users = configuration.users
        limits = configuration.limits
        keptMessages = configuration.keptMessages
    }

    /// A message was accepted.
    mutating func accepted(_ text: String) {
        messageCount += 1
        messages.append(text)
        if messages.count > keptMessages { messages.removeFirst() }
    }

    /// Changes what takes the place of a text of messages; nil removes it.
    mutating func respond(to text: String, as command: String?) { responses[text] = command }

    /// The meaning of a message.
    func command(of text: String) -> MessageCommand { MessageCommand(responses[text] ?? text) }

    /// The refusal of a session, with a session code; nil if the session is granted.
    func refusal(adapterSet: String?, user: String?, password: String?) -> ControlRefusal? {
        guard adapterSets.contains(where: { $0.hasSameBytes(as: adapterSet ?? "DEFAULT") }) else {
            return ControlRefusal(code: 2, message: "Requested Adapter Set not available")
        }
        if let users {
            guard let user, let password, let known = users.first(where: { $0.key.hasSameBytes(as: user) }),
                password.hasSameBytes(as: known.value)
            else { return ControlRefusal(code: 1, message: "User/password check failed") }
        }
        return nil
    }

    /// Resolves the items and fields of a subscription. `others`: the number of items of other subscriptions.
    func plan(
        _ request: AddRequest,
        in feeds: FeedDirectory,
        beside others: Int
    ) throws(ControlRefusal) -> SubscriptionPlan {
        guard let feed = feeds.index(named: request.dataAdapter ?? "DEFAULT") else {
            throw ControlRefusal(code: 17, message: "Data Adapter not found")
        }
        let unknownGroup = ControlRefusal(code: 21, message: "Bad Item Group name")
        let names = UpstreamName.split(request.group).filter { !$0.isEmpty }
        guard !names.isEmpty, names.count <= limits.itemsPerSubscription else { throw unknownGroup }
        var items: [SubscriptionPlan.NamedItem] = []
        for name in names {
            guard let item = feeds.item(name, of: feed) else { throw unknownGroup }
            items.append(SubscriptionPlan.NamedItem(name: name, item: item))
        }
        guard items.allSatisfy({ $0.item.mode == request.mode }) else {
            throw ControlRefusal(code: 24, message: "Invalid mode for these items")
        }
        if let selector = request.selector, !selector.isEmpty,
            !items.allSatisfy({ item in item.item.selectors.contains { $0.hasSameBytes(as: selector) } })
        {
            throw ControlRefusal(code: 25, message: "Bad Selector name")
        }
        let (columns, fields) = try columns(of: request.schema, in: feeds.fields(of: feed))
        var plan = SubscriptionPlan(feed: feed, mode: request.mode, items: items, columns: columns)
        if request.mode == .command { try placeKey(of: fields, in: &plan) }
        if others + items.count > limits.items { throw .tooManySubscriptions }
        if request.maxFrequency == .unfiltered, request.mode != .raw,
            limits.frequency != nil || items.contains(where: { $0.item.maxFrequency != nil })
        {
            throw ControlRefusal(code: 26, message: "Unfiltered dispatching not allowed for these items")
        }
        return plan
    }

    private func columns(
        of schema: String,
        in known: [String]
    ) throws(ControlRefusal) -> (columns: [Int], fields: [String]) {
        let unknownSchema = ControlRefusal(code: 23, message: "Bad Field Schema name")
        let fields = UpstreamName.split(schema).filter { !$0.isEmpty }
        var columns: [Int] = []
        for field in fields {
            guard let column = known.firstIndex(ofName: field) else { throw unknownSchema }
            columns.append(column)
        }
        guard !columns.isEmpty, columns.count <= 10 * known.count else { throw unknownSchema }
        return (columns, fields)
    }

    private func placeKey(of fields: [String], in plan: inout SubscriptionPlan) throws(ControlRefusal) {
        guard let key = fields.firstIndex(of: "key") else {
            throw ControlRefusal(code: 15, message: "The key field is missing from the schema")
        }
        guard let command = fields.firstIndex(of: "command") else {
            throw ControlRefusal(code: 16, message: "The command field is missing from the schema")
        }
        plan.keyPosition = key + 1
        plan.commandPosition = command + 1
    }
}

/// The meaning of the text of a message.
///
///     CHAT|text         published in the chat room
///     ECHO|text         processed; the response is the text, as for every text not listed here
///     FAIL|code|text    processing fails with that code
///     DELAY|ms|message  the message, processed after this time; later ones of the sequence wait
///     END|code|text     the session ends
///     FAULT|script      installs faults, see `FaultScript`; needs `acceptsFaultsFromClients`
enum MessageCommand: Sendable, Hashable {
    /// Processed, with this response.
    case done(response: String)
    /// Published in the chat room.
    case chat(String)
    case failed(code: Int, message: String)
    /// To be processed after a time.
    case later(Duration, rest: String)
    case end(SessionEnd)
    /// Faults are to be installed.
    case fault(script: String)

    init(_ text: String) {
        let parts = text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            self = .done(response: text)
            return
        }
        let rest = String(parts[1])
        let words = rest.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        let number = Int(words[0])
        let tail = words.count == 2 ? String(words[1]) : ""
        switch (parts[0], number) {
        case ("CHAT", _): self = .chat(rest)
        case ("ECHO", _): self = .done(response: rest)
        case ("FAULT", _): self = .fault(script: rest)
        case ("FAIL", let code?): self = .failed(code: code, message: tail)
        case ("DELAY", let milliseconds?): self = .later(.boundedMilliseconds(milliseconds), rest: tail)
        case ("END", let code?): self = .end(SessionEnd(code: code, message: tail))
        default: self = .done(response: text)
        }
    }
}

/// The refusal of a request: a code of the catalogue of its kind, and a readable text.
struct ControlRefusal: Error, Sendable, Hashable {
    let code: Int
    let message: String

    static let tooManySubscriptions = ControlRefusal(code: 30, message: "Too many subscriptions")
    static let unknownSubscription = ControlRefusal(code: 19, message: "Specified subscription not found")

    var conErr: ServerNotification { .conErr(code: code, message: message) }

    func reqErr(_ requestID: RequestID) -> ServerNotification { .reqErr(requestID, code: code, message: message) }
}
