internal import ArgumentParser
internal import FoundationEssentials
internal import Gateway

/// The flags of commands that read the configuration of a gateway.
struct GatewayOptions: ParsableArguments {
    @Option(help: "A configuration file, YAML or JSON.", completion: .file())
    var config: String?

    @Option(help: "The address to listen on (default 127.0.0.1).")
    var host: String?

    @Option(help: "The port to listen on; 0: a free one (default 8080).")
    var port: Int?

    @Option(help: "An upstream as NAME=URL or NAME=URL,ADAPTERSET; may be repeated.")
    var upstream: [String] = []

    @Option(help: "HOST:PORT that requests may connect to, * for any; may be repeated.")
    var allowUpstream: [String] = []

    @Option(help: "How callers authenticate; required to listen on an address other than loopback.")
    var auth: String?

    @Option(help: "Any setting as KEY=VALUE; may be repeated.")
    var set: [String] = []

    @OptionGroup var logging: LogOptions

    /// Mistakes of flags are found here, so that the usage of the command is printed below them.
    func validate() throws { _ = try flags() }

    func flags() throws -> [(key: String, value: String)] {
        var flags: [(key: String, value: String)] = []
        if let host { flags.append(("http.host", host)) }
        if let port { flags.append(("http.port", String(port))) }
        if let auth { flags.append(("auth", auth)) }
        flags += logging.flags
        for pattern in allowUpstream { flags.append(("pool.allowUpstream", pattern)) }
        for text in upstream {
            let shape = "NAME=URL[,ADAPTERSET]"
            let (name, value) = try Self.split(text, flag: "--upstream", shape: shape)
            let parts = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.allSatisfy({ !$0.isEmpty }) else {
                throw ValidationError("--upstream \(text): must be \(shape)")
            }
            flags.append(("upstreams.\(name).serverAddress", parts[0]))
            if parts.count == 2 { flags.append(("upstreams.\(name).adapterSet", parts[1])) }
        }
        for text in set { flags.append(try Self.split(text, flag: "--set", shape: "KEY=VALUE")) }
        return flags
    }

    private static func split(_ text: String, flag: String, shape: String) throws -> (key: String, value: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
            text.index(after: equals) != text.endIndex
        else { throw ValidationError("\(flag) \(text): must be \(shape)") }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// The whole configuration, with the command's own `defaults`; mistakes are printed, one a line, and end the program.
    func configuration(
        defaults: [(key: String, value: String)] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> GatewayConfiguration {
        do {
            return try read(defaults: defaults, environment: environment)
        } catch let error as ConfigurationError {
            throw ExitCode.configuration.because("\(error)")
        } catch let error as UnreadableFile {
            throw ExitCode.noInput.because("\(error)")
        }
    }

    /// The whole configuration; throws `ConfigurationError` or `UnreadableFile`.
    func read(
        defaults: [(key: String, value: String)] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> GatewayConfiguration {
        var reader = try reader(defaults, environment)
        return try reader.read()
    }

    /// Warnings about settings that have no effect, about a missing upstream, and those of the configuration itself.
    func warnings(
        about configuration: GatewayConfiguration,
        defaults: [(key: String, value: String)] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        let variables = (try? reader(defaults, environment))?.unknownVariables ?? []
        var warnings = variables.map(\.description)
        if let warning = configuration.upstreamWarning { warnings.append(warning) }
        return warnings + configuration.warnings()
    }

    private func reader(
        _ defaults: [(key: String, value: String)],
        _ environment: [String: String]
    ) throws -> ConfigurationReader {
        let file = try config.map { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw UnreadableFile(path: path)
            }
            return try ConfigurationFile(path: path, text: text)
        }
        return ConfigurationReader(flags: try flags(), environment: environment, file: file, defaults: defaults)
    }
}

extension GatewayConfiguration {
    /// A warning that there is nothing to read from; nil if there is.
    var upstreamWarning: String? {
        guard pool.upstreams.isEmpty, pool.allowedAddresses.entries.isEmpty else { return nil }
        return "no upstream is configured: use --upstream NAME=URL or upstreams.NAME.serverAddress"
    }
}
