internal import ArgumentParser
internal import Gateway

/// `check`: validates a configuration and names every mistake.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate a configuration without running it.",
        discussion: "Every mistake is named with its file and line, variable or flag; the exit status is then 78."
    )

    @Flag(help: "Print the table of all keys instead.")
    var keys = false

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        if keys {
            StandardOutput.write(Settings.table)
            return
        }
        let configuration = try options.configuration()
        let count = configuration.pool.upstreams.count
        StandardOutput.write("ok: \(count) upstream\(count == 1 ? "" : "s")\n")
    }
}
