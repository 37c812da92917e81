internal import ArgumentParser
internal import Foundation
internal import Gateway
internal import Logging

/// The flags that every command which runs a gateway has.
struct GatewayOptions: ParsableArguments {
    @Option(help: "A configuration file, YAML or JSON.")
    var config: String?

    @Option(help: "The address to listen on (default 127.0.0.1).")
    var host: String?

    @Option(help: "The port to listen on; 0 takes a free one (default 8080).")
    var port: Int?

    @Option(help: "An upstream as NAME=URL or NAME=URL,ADAPTERSET; may be repeated.")
    var upstream: [String] = []

    @Option(help: "HOST:PORT that requests may connect to, * for any; may be repeated.")
    var allowUpstream: [String] = []

    @Option(help: "How callers prove who they are; needed to listen on other addresses than loopback.")
    var auth: String?

    @Option(help: "Any key of the configuration as KEY=VALUE; may be repeated.")
    var set: [String] = []

    @OptionGroup var logging: LogOptions

    /// The flags as keys of the configuration.
    func flags() throws -> [(key: String, value: String)] {
        var flags: [(key: String, value: String)] = []
        if let host { flags.append(("http.host", host)) }
        if let port { flags.append(("http.port", String(port))) }
        if let auth { flags.append(("auth", auth)) }
        flags += logging.flags
        for pattern in allowUpstream { flags.append(("pool.allowUpstream", pattern)) }
        for text in upstream {
            let (name, value) = try Self.split(text, flag: "--upstream", shape: "NAME=URL[,ADAPTERSET]")
            let parts = value.split(separator: ",", maxSplits: 1).map(String.init)
            flags.append(("upstreams.\(name).serverAddress", parts[0]))
            if parts.count == 2 { flags.append(("upstreams.\(name).adapterSet", parts[1])) }
        }
        for text in set { flags.append(try Self.split(text, flag: "--set", shape: "KEY=VALUE")) }
        return flags
    }

    private static func split(
        _ text: String,
        flag: String,
        shape: String
    ) throws -> (key: String, value: String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
            text.index(after: equals) != text.endIndex
        else { throw ValidationError("\(flag) \(text): must be \(shape)") }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// The whole configuration; mistakes are printed, one a line, and end the program.
    func configuration(further: [(key: String, value: String)] = []) throws -> GatewayConfiguration {
        do {
            return try read(further: further)
        } catch let error as ConfigurationError {
            StandardError.write("\(error)\n")
            throw ExitCode(78)  // EX_CONFIG of sysexits(3)
        } catch let error as UnreadableFile {
            StandardError.write("\(error)\n")
            throw ExitCode(66)  // EX_NOINPUT
        }
    }

    /// The whole configuration; throws `ConfigurationError` or `UnreadableFile`.
    func read(further: [(key: String, value: String)] = []) throws -> GatewayConfiguration {
        let file = try config.map { path in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw UnreadableFile(path: path)
            }
            return try ConfigurationFile(path: path, text: text)
        }
        var reader = ConfigurationReader(
            flags: try flags() + further,
            environment: ProcessInfo.processInfo.environment,
            file: file
        )
        return try reader.read()
    }
}

/// A configuration file that cannot be read at all.
struct UnreadableFile: Error, CustomStringConvertible {
    let path: String

    var description: String { "\(path): cannot be read as UTF-8 text" }
}
