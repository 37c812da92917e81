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
            command line and environment of a running gateway are used; in a container its process id is 1. The port \
            is the one that the process listens on, also where the file has a mistake or another port since the start.
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
        var failure: String?
        for address in try addresses() {
            do {
                // The certificate is for the name that clients use. The check sends no secret.
                let fetch = try HTTPFetch(address, timeout: .seconds(timeout), verifiesServer: url != nil)
                let response = try await fetch.response(upTo: 1 << 20)
                StandardOutput.write(Self.line(status: response.status, String(decoding: response.body, as: UTF8.self)))
                if response.status != 200 { throw ExitCode.failure }
                return
            } catch let error where !(error is ExitCode) {
                failure = failure ?? "\(address): \(NetworkError.sentence(error))"
            }
        }
        if let failure { throw ExitCode.failure.because(failure) }
    }

    /// The line of output for a response. The text may come from another program, which must not control the terminal.
    static func line(status: Int, _ body: String) -> String {
        "\(status) \((body.last?.isNewline == true ? String(body.dropLast()) : body).printable)\n"
    }

    /// The URLs that the gateway may have; the first one that responds counts.
    private func addresses() throws -> [String] {
        let path = ready ? "/health/ready" : "/health/live"
        if let url { return [Self.target(url, path)] }
        let process = try pid.map { try GatewayProcessArguments(pid: $0) }
        return try (process?.addresses() ?? [Self.url(of: options.configuration())]).map { $0 + path }
    }

    static func url(of configuration: GatewayConfiguration) throws -> String {
        let port = configuration.http.port
        guard port != 0 else {
            throw ExitCode.validationFailure.because("Error: http.port is 0, so that the port is not known: use --url")
        }
        return ProcessServices.url(of: configuration, port: port)
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
    private let pid: Int
    private let arguments: [String]
    private let environment: [String: String]
    private let folder: String

    /// Reads the command line and environment of a process. Throws if they cannot be read.
    init(pid: Int) throws {
        self.pid = pid
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

    /// The URLs that the gateway may have: those of the port that the process listens on, because the file may have
    /// another port, another certificate or a mistake since the start; else that of its configuration. Throws for a
    /// process that is not a gateway.
    func addresses() throws -> [String] {
        let (options, defaults, demoPort) = try command()
        let http = (try? options.read(defaults: defaults, environment: environment))?.http
        let sockets = ListeningSocket.all(of: pid).filter { $0.port != demoPort }
        let isConfigured = sockets.contains { $0.port == Int(http?.port ?? 0) }
        let configured = http.map { ListeningSocket(host: $0.host, port: Int($0.port)) }
        let only = Set(sockets.map(\.port)).count == 1 ? sockets.first : nil
        guard let socket = isConfigured ? configured : only else {
            return [try HealthCommand.url(of: options.configuration(defaults: defaults, environment: environment))]
        }
        let isSecure = http?.certificate != nil
        return [isSecure, !isSecure].map { ProcessServices.url(host: socket.host, port: socket.port, isSecure: $0) }
    }

    /// The options of the gateway, the defaults of its command, and the port of the demo server in the same process.
    private func command() throws -> (GatewayOptions, [(key: String, value: String)], demoPort: Int?) {
        let command = try? GatewayCommand.parseAsRoot(arguments)
        if var serve = command as? ServeCommand {
            resolve(&serve.options)
            return (serve.options, [], nil)
        }
        if var demo = command as? DemoCommand {
            resolve(&demo.options)
            let (host, port) = (demo.demo.demoHost, demo.demo.demoPort)
            return (demo.options, DemoCommand.defaults(host: host, port: port), port)
        }
        throw ExitCode.validationFailure.because("Error: --pid: the process is not a gateway")
    }

    private func resolve(_ options: inout GatewayOptions) {
        if let config = options.config, !config.hasPrefix("/") { options.config = "\(folder)/\(config)" }
    }
}
