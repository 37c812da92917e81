internal import ArgumentParser
internal import FoundationEssentials
internal import Gateway
internal import HTTPFetch

/// `get`: reads values once, from a gateway.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Read present values from a gateway.",
        discussion: """
            One value:      get item1 last_price
            A table:        get item1 item2 stock_name,last_price,time --format csv
            Elsewhere:      get gateway.example:8080 item1 last_price
            A feed:         get --feed quotes item1 last_price

            The last word has the fields, separated by commas; the words before it are items. The address is that of a \
            gateway, http://127.0.0.1:8080 if it is missing. The exit status is 1 if there are no values, with a sentence \
            that tells why.

            GATEWAY_TOKEN (an API key or a JWT) is sent to the gateway.
            """
    )

    /// The forms of the output.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, csv, json, ndjson
    }

    @Argument(help: "[ADDRESS] ITEM… FIELD,…")
    var words: [String] = []

    @Option(help: "A feed of the gateway; without items or fields, all of them are read.")
    var feed: String?

    @Option(help: "The upstream; the only one or the default one if missing.")
    var upstream: String?

    @Option(help: "MERGE, DISTINCT, COMMAND or RAW.", completion: WatchCommand.modes)
    var mode = "MERGE"

    @Option(help: "The Data Adapter; the server's DEFAULT if missing.")
    var dataAdapter: String?

    @Option(help: "The form of the output.")
    var format = Format.text

    @Option(help: "The longest time to wait for values, in seconds.")
    var wait = 5

    func validate() throws {
        let arguments = ReadingArguments(words)
        if feed != nil, upstream != nil || dataAdapter != nil || mode.uppercased() != "MERGE" {
            throw ValidationError("--feed determines upstream, mode and Data Adapter")
        }
        guard feed != nil || (arguments.items != nil && arguments.fields != nil) else {
            throw ValidationError("name items and fields, for instance: get item1 last_price")
        }
        try WatchCommand.checkMode(mode)
        guard (0...300).contains(wait) else { throw ValidationError("--wait: must be 0 … 300") }
    }

    func run() async throws {
        let arguments = ReadingArguments(words)
        let address = arguments.address.map(AddressFinder.url) ?? AddressFinder.usual
        do {
            var body = try await read(address, arguments)
            if format == .text, !body.isEmpty, body.last != UInt8(ascii: "\n") { body.append(UInt8(ascii: "\n")) }
            StandardOutput.show(String(decoding: body, as: UTF8.self))
        } catch let failure as WatchFailure {
            throw ExitCode.failure.because(failure.sentence)
        }
        try StandardOutput.check()
    }

    private func read(_ address: String, _ arguments: ReadingArguments) async throws -> [UInt8] {
        var query = [
            ("items", arguments.items), ("fields", arguments.fields), ("format", format.rawValue),
            ("feed", feed), ("upstream", upstream), ("dataAdapter", dataAdapter),
        ]
        if mode.uppercased() != "MERGE" { query.append(("mode", mode)) }
        do {
            let request = try GatewayRequest.make(
                address,
                "/v1/values",
                query,
                headers: [("Prefer", "wait=\(wait)")],
                timeout: .seconds(wait + 10)
            )
            let response = try await request.response(upTo: 1 << 27)
            if response.status == 204 { return [] }
            let expected = ValuesForm(rawValue: format.rawValue)?.offer
            if response.status == 200, response.head.mediaType == expected { return response.body }
            let text = String(decoding: response.body, as: UTF8.self)
            guard ProblemText.isProblem(text) else {
                let sentence = ProblemText.foreign(at: address, status: response.status, text)
                throw WatchFailure("\(sentence)\nCorrect the address; watch also reads from a Lightstreamer server.")
            }
            throw WatchFailure(ProblemText.sentence(status: response.status, text))
        } catch let error where !(error is WatchFailure) {
            throw WatchFailure(NetworkError.advice(error, address: address))
        }
    }
}
