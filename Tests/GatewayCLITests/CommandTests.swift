import ArgumentParser
import Foundation
import Testing

@testable import GatewayCLI

@Suite struct CommandTests {
    @Test func aMistypedCommandGetsASuggestion() {
        #expect(
            GatewayCommand.unknownCommand(in: ["serv"])?.message
                == "There is no command \"serv\". Did you mean \"serve\"?"
        )
        #expect(GatewayCommand.unknownCommand(in: ["wacth"])?.message.contains("\"watch\"") == true)
        #expect(GatewayCommand.unknownCommand(in: ["xyzzy"])?.message == "There is no command \"xyzzy\".")
        #expect(GatewayCommand.unknownCommand(in: ["serve"]) == nil)
        #expect(GatewayCommand.unknownCommand(in: ["--help"]) == nil)
        #expect(GatewayCommand.unknownCommand(in: []) == nil)
    }

    @Test func everyCommandDescribesItself() {
        for command in GatewayCommand.configuration.subcommands {
            #expect(!command.configuration.abstract.isEmpty)
            #expect(command.configuration.commandName != nil)
        }
    }

    @Test(arguments: [
        ("http://a:1", "http://a:1/health/live"), ("http://a:1/", "http://a:1/health/live"),
        ("https://[::1]:8443", "https://[::1]:8443/health/live"), ("http://a/health", "http://a/health"),
        ("http://a/?b", "http://a/?b"), ("nonsense", "nonsense"),
    ])
    func aURLWithoutAPathIsTheAddressOfTheGateway(url: String, target: String) {
        #expect(HealthCommand.target(url, "/health/live") == target)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsAreGenerated(shell: String) {
        let script = GatewayCommand.completionScript(for: CompletionShell(rawValue: shell) ?? .bash)
        #expect(script.contains("demo-server"))
    }

    @Test(arguments: [
        ("time info gateway: path=/v1 request\n", "time info gateway: path=/v1 request\n"),
        ("path=/\u{1B}[2J\r\nforged line\n", "path=/\\u{1b}[2J\\u{d}\\u{a}forged line\n"),
        ("é\u{85}\u{2028}\u{202E}\n\n", "é\\u{85}\\u{2028}\\u{202e}\\u{a}\n"),
        ("", ""),
    ])
    func textOfOthersCannotForgeLogLines(line: String, written: String) {
        #expect(LogLines.escaped(line) == written)
    }
}
