internal import ArgumentParser
internal import LightstreamerClient

/// `watch`: subscribes and shows updates, from a Lightstreamer server or from a gateway.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Subscribe and show updates, from a Lightstreamer server or from a gateway.",
        discussion: """
            From a gateway:  watch item1 last_price,time
            A feed:          watch --feed quotes item1 last_price
            From anywhere:   watch 127.0.0.1:8090 item1 item2 last_price --adapter-set DEMO

            The last word has the fields, separated by commas; the words before it are items. The address may be that of a \
            gateway or of a Lightstreamer server; without one, a gateway at http://127.0.0.1:8080 is read.

            In a terminal the values are shown as a table, updated in place; q ends it. In a pipe each update is one line.

            Credentials come from the environment, because other users of a machine can read command lines: \
            LIGHTSTREAMER_PASSWORD is sent to a server, GATEWAY_TOKEN (an API key or a JWT) to a gateway.
            """
    )

    @Argument(help: "[ADDRESS] ITEM… FIELD,…")
    var words: [String] = []

    @Option(help: "A Lightstreamer server to connect to.")
    var server: String?

    @Option(help: "A gateway to read from.")
    var gateway: String?

    @Option(help: "A feed of the gateway.")
    var feed: String?

    @Option(help: "The upstream of the gateway; the only one or the default one if missing.")
    var upstream: String?

    @Option(help: "The adapter set of the server.")
    var adapterSet: String?

    @Option(help: "The user to authenticate as, with a server.")
    var user: String?

    @Option(help: "MERGE, DISTINCT, COMMAND or RAW.", completion: WatchCommand.modes)
    var mode = "MERGE"

    @Option(help: "Item names, separated by commas.")
    var items: String?

    @Option(help: "Field names, separated by commas.")
    var fields: String?

    @Option(help: "The Data Adapter; the server's DEFAULT if missing.")
    var dataAdapter: String?

    @Option(help: "Stop after this many updates.")
    var count: Int?

    @Flag(help: "Print each event as one line of JSON: from a gateway, the bytes of its NDJSON stream.")
    var json = false

    @Flag(help: "End with exit status 1 instead of trying again, if the server cannot be reached for instance.")
    var once = false

    /// The mode; valid after `validate`.
    var subscriptionMode: SubscriptionMode { SubscriptionMode(rawValue: mode.uppercased()) ?? .merge }

    private var arguments: ReadingArguments { ReadingArguments(words, hasFields: fields != nil) }

    /// The names of items, separated by commas; valid after `validate`.
    var itemNames: String { items ?? arguments.items ?? "" }

    /// The names of fields, separated by commas; valid after `validate`.
    var fieldNames: String { fields ?? arguments.fields ?? "" }

    func validate() throws {
        if server != nil, gateway != nil { throw ValidationError("name either a --server or a --gateway") }
        if arguments.address != nil, server != nil || gateway != nil {
            throw ValidationError("name one address only")
        }
        if feed != nil, server != nil || upstream != nil || dataAdapter != nil || mode.uppercased() != "MERGE" {
            throw ValidationError("--feed is of a gateway, and determines upstream, mode and Data Adapter")
        }
        if items != nil, arguments.items != nil {
            throw ValidationError("--items takes the place of words: name the fields by --fields")
        }
        guard feed != nil || (!itemNames.isEmpty && !fieldNames.isEmpty) else {
            throw ValidationError("name items and fields, for instance: watch item1 last_price")
        }
        try Self.checkMode(mode)
        if let count, count < 1 { throw ValidationError("--count: must be 1 or more") }
    }

    func run() async throws {
        let source: AddressFinder.Finding
        do throws(WatchFailure) {
            source = try await find()
        } catch {
            throw ExitCode.failure.because(error.sentence)
        }
        if let mistake = mistake(with: source) { throw ExitCode.validationFailure.because("Error: \(mistake)") }
        let display = display(of: source)
        let output = WatchOutput(display: display, limit: count)
        let failure = await withTaskGroup(of: WatchFailure?.self) { group in
            group.addTask { await display.run() }
            group.addTask { await source.read(self, output) }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        display.close()
        if let failure { throw ExitCode.failure.because(failure.sentence) }
        try StandardOutput.check()
    }

    /// The server to read from. An address that no option names is asked for its kind.
    private func find() async throws(WatchFailure) -> AddressFinder.Finding {
        if let server { return .server(AddressFinder.url(server)) }
        if let gateway { return .gateway(AddressFinder.url(gateway)) }
        guard let address = arguments.address else { return .gateway(AddressFinder.usual) }
        return try await AddressFinder.find(address)
    }

    /// What is wrong with the options for this source: some options belong to one kind of source. Nil without a mistake.
    func mistake(with source: AddressFinder.Finding) -> String? {
        switch source {
        case .gateway(let url):
            let option = adapterSet != nil ? "--adapter-set" : user != nil ? "--user" : nil
            return option.map { "\($0) is for a Lightstreamer server, and \(url) is a gateway" }
        case .server(let url):
            let option = upstream != nil ? "--upstream" : feed != nil ? "--feed" : nil
            return option.map { "\($0) is for a gateway, and \(url) is a Lightstreamer server" }
        }
    }

    private func display(of source: AddressFinder.Finding) -> any WatchDisplay {
        if json {
            if case .gateway = source { return StreamDisplay() }
            return JSONDisplay()
        }
        // Without names, the columns of a table are not known.
        if fieldNames.isEmpty { return LineDisplay() }
        return TerminalDisplay(mode: subscriptionMode, fields: Self.list(fieldNames)) ?? LineDisplay()
    }

    /// The elements of a comma-separated option.
    static func list(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

    /// The names of modes, which a shell completes.
    static var modes: CompletionKind { .list(SubscriptionMode.allCases.map(\.rawValue)) }

    /// Throws a `ValidationError` unless `mode` is the name of a mode, in upper or lower case.
    static func checkMode(_ mode: String) throws {
        guard SubscriptionMode(rawValue: mode.uppercased()) != nil else {
            throw ValidationError("--mode \(mode): must be MERGE, DISTINCT, COMMAND or RAW")
        }
    }
}
