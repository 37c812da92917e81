internal import ArgumentParser

/// The program: its commands, and nothing else.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lightstreamer-gateway",
        abstract: "Live Lightstreamer data as plain HTTP: REST and Server-Sent Events.",
        discussion: "Try it: lightstreamer-gateway demo, then open http://127.0.0.1:8080/ in a browser.",
        version: "0.1.0",
        subcommands: [
            ServeCommand.self, DemoCommand.self, DemoServerCommand.self, WatchCommand.self, CheckCommand.self,
            HealthCommand.self, KeyCommand.self,
        ]
    )
}
