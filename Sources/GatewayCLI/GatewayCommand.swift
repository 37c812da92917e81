internal import ArgumentParser
internal import Gateway
internal import Glibc

/// The program: its commands, and nothing else.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lightstreamer-gateway",
        abstract: "Live Lightstreamer data as plain HTTP: REST and Server-Sent Events.",
        discussion: "Try it: lightstreamer-gateway demo, then open http://127.0.0.1:8080/ in a browser.",
        version: GatewayVersion.text,
        subcommands: [
            ServeCommand.self, DemoCommand.self, DemoServerCommand.self, WatchCommand.self, CheckCommand.self,
            HealthCommand.self, KeyCommand.self,
        ]
    )

    /// Ignores SIGPIPE before anything is written: a reader of the log that goes away must not end the process.
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        await main(nil)
    }
}
