internal import ArgumentParser
internal import Gateway

/// `check`: validates a configuration and prints every mistake.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate a configuration without running it.",
        discussion:
            "Every mistake is printed with its file and line, variable or flag. The exit status is 78 if there are any."
    )

    /// The forms of the table of settings.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case markdown
        case jsonSchema = "json-schema"
    }

    @Flag(help: "Print the table of all settings instead.")
    var keys = false

    @Option(help: "The form of the table: markdown (default), or json-schema for editors.")
    var format: Format?

    @Flag(
        help:
            "Also connect to each upstream and to the cluster's engine, and subscribe to each feed once; the exit status is 1 if one does not respond."
    )
    var connect = false

    @OptionGroup var options: GatewayOptions

    func validate() throws {
        if format != nil, !keys { throw ValidationError("--format is the form of the table of --keys") }
        if keys, try connect || options.config != nil || !options.flags().isEmpty {
            throw ValidationError("--keys prints the table of all settings, and reads no configuration")
        }
    }

    func run() async throws {
        if keys {
            StandardOutput.write(format == .jsonSchema ? Settings.jsonSchema : Settings.table)
            return try StandardOutput.check()
        }
        let configuration = try options.configuration()
        for warning in options.warnings(about: configuration) { StandardError.write("warning: \(warning)\n") }
        let count = configuration.pool.upstreams.count
        StandardOutput.write("ok: \(count) upstream\(count == 1 ? "" : "s")\n")
        if connect, await !ConnectionCheck(configuration: configuration).run() { throw ExitCode.failure }
        try StandardOutput.check()
    }
}
