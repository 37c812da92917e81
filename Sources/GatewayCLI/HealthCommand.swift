internal import ArgumentParser
internal import FoundationEssentials
internal import Gateway
internal import HTTPFetch

/// `health`: checks a running gateway, for container probes.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check a running gateway; exit status 0 if it responds with 200.",
        discussion: """
            The address is that of --url, or that of the same flags, environment and file as for serve. With --pid the \
            command line and environment of a running gateway are used; in a container its process id is 1.
            """
    )

    @Option(help: "The URL to check, or the address of the gateway without a path.")
    var url: String?

    @Option(help: "The process id of the gateway.")
    var pid: Int?

    @Flag(help: "Check whether the gateway is ready, not only whether it runs.")
    var ready = false

    @Option(help: "The longest time to wait for the response, in seconds.")
    var timeout = 3

    @OptionGroup var options: GatewayOptions

    func validate() throws {
        guard (1...3_600).contains(timeout) else { throw ValidationError("--timeout: must be 1 … 3600") }
        if let pid, pid < 1 { throw ValidationError("--pid: must be 1 or more") }
        if url != nil, pid != nil { throw ValidationError("name either a --url or a --pid") }
        if url != nil || pid != nil, !(try options.flags().isEmpty && options.config == nil) {
            throw ValidationError("--\(url == nil ? "pid" : "url") takes the place of a configuration and its flags")
        }
        if let url, ready, Self.target(url, "/health/ready") == url {
            throw ValidationError("--ready needs a --url without a path")
        }
        // Only a mistake that is found here has the usage of this command.
        if let pid { _ = try GatewayProcessArguments(pid: pid) }
    }

    func run() async throws {
        let address = try address()
        do {
            // The certificate is for the name that clients use. The check sends no secret.
            let fetch = try HTTPFetch(address, timeout: .seconds(timeout), verifiesServer: url != nil)
            let response = try await fetch.response(upTo: 1 << 20)
            StandardOutput.write(Self.line(status: response.status, String(decoding: response.body, as: UTF8.self)))
            if response.status != 200 { throw ExitCode.failure }
        } catch let error where !(error is ExitCode) {
            throw ExitCode.failure.because("\(address): \(NetworkError.sentence(error))")
        }
    }

    /// The line of output for a response. The text may come from another program, which must not control the terminal.
    static func line(status: Int, _ body: String) -> String {
        "\(status) \((body.last?.isNewline == true ? String(body.dropLast()) : body).printable)\n"
    }

    private func address() throws -> String {
        let path = ready ? "/health/ready" : "/health/live"
        if let url { return Self.target(url, path) }
        let configuration =
            try pid.map { try GatewayProcessArguments(pid: $0).configuration() } ?? options.configuration()
        let http = configuration.http
        guard http.port != 0 else {
            throw ExitCode.validationFailure.because("Error: http.port is 0, so that the port is not known: use --url")
        }
        let base = ProcessServices.url(of: configuration, port: http.port)
        return base + path
    }

    /// The URL to check. A URL without a path is the address of the gateway, as in the first line of its output.
    static func target(_ url: String, _ path: String) -> String {
        let url = url.contains("://") ? url : AddressFinder.url(url)
        guard let parts = URLComponents(string: url), parts.host != nil, parts.query == nil, parts.fragment == nil,
            ["", "/"].contains(parts.path)
        else { return url }
        return (url.hasSuffix("/") ? String(url.dropLast()) : url) + path
    }
}

/// The command line and environment of a running gateway, as the system shows them to its user.
struct GatewayProcessArguments {
    private let arguments: [String]
    private let environment: [String: String]
    private let folder: String

    /// Reads the command line and environment of a process. Throws if they cannot be read.
    init(pid: Int) throws {
        func words(_ file: String) throws -> [String] {
            guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/\(file)") else {
                throw ValidationError("--pid \(pid): /proc/\(pid)/\(file) cannot be read")
            }
            return data.split(separator: 0, omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        let line = try words("cmdline").dropLast()
        // The first process of a container may be an init program with the gateway's command line.
        let program = line.firstIndex { $0.split(separator: "/").last == "lightstreamer-gateway" } ?? line.startIndex
        arguments = Array(line[program...].dropFirst())
        let variables = try words("environ").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        environment = Dictionary(
            variables.filter { $0.count == 2 }.map { ($0[0], $0[1]) },
            uniquingKeysWith: { first, _ in first }
        )
        folder = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd")) ?? "/"
    }

    /// The configuration that results from these arguments. Throws for a process that is not a gateway.
    func configuration() throws -> GatewayConfiguration {
        let command = try? GatewayCommand.parseAsRoot(arguments)
        if var serve = command as? ServeCommand {
            resolve(&serve.options)
            return try serve.options.configuration(environment: environment)
        }
        if var demo = command as? DemoCommand {
            resolve(&demo.options)
            let defaults = DemoCommand.defaults(host: demo.demo.demoHost, port: demo.demo.demoPort)
            return try demo.options.configuration(defaults: defaults, environment: environment)
        }
        throw ExitCode.validationFailure.because("Error: --pid: the process is not a gateway")
    }

    private func resolve(_ options: inout GatewayOptions) {
        if let config = options.config, !config.hasPrefix("/") { options.config = "\(folder)/\(config)" }
    }
}
