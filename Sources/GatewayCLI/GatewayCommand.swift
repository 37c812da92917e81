internal import ArgumentParser
internal import Gateway
internal import Glibc

/// The program with its commands.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lightstreamer-gateway",
        abstract: "Live Lightstreamer data as plain HTTP: REST and Server-Sent Events.",
        discussion: "Try it: lightstreamer-gateway demo, then open http://127.0.0.1:8080/ in a browser.",
        version: GatewayVersion.text,
        subcommands: [
            ServeCommand.self, DemoCommand.self, DemoServerCommand.self, GetCommand.self, WatchCommand.self,
            RecordCommand.self, BenchCommand.self, CheckCommand.self, HealthCommand.self, KeyCommand.self,
        ]
    )

    static func main() async {
        keepStandardDescriptors()
        // Before the first output: a closed log pipe must not end the process.
        signal(SIGPIPE, SIG_IGN)
        // The kernel drops signals for the first process of a container that has no handler for them. Commands that stop
        // gracefully replace these handlers.
        if getpid() == 1 {
            for number in [SIGINT, SIGTERM] { signal(number, endProcess(by:)) }
        }
        if let error = unknownCommand(in: Array(CommandLine.arguments.dropFirst())) { exit(withError: error) }
        await main(nil)
    }

    /// Opens the standard descriptors that the parent process has closed: a socket that gets such a number would receive
    /// the output or the log. What is written to them fails.
    private static func keepStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// The error for a first argument that is not a command, with the most similar command.
    static func unknownCommand(in arguments: [String]) -> ValidationError? {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard let first = arguments.first, !first.hasPrefix("-"), !names.contains(first) else { return nil }
        let suggestion = SimilarNames.suggestion(for: first, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
        return ValidationError("There is no command \"\(first)\".\(suggestion)")
    }
}

/// Ends the process with the exit status that a shell gives to one killed by the signal. A signal handler, on any thread:
/// `_exit` is one of the few functions that it may call.
private func endProcess(by signal: Int32) { _exit(128 + signal) }
