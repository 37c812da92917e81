internal import Testing

/// The fault suite of `Tests/Soak` against the built program.
@Suite struct FaultTests {
    @Test(
        .enabled(if: ForeignClientTests.hasTools, "needs .ci/setup tests"),
        arguments: [
            "cut_after_every_line", "connections_that_break", "restarted_server",
            "restarted_server_with_its_sessions", "slow_name_lookup", "wrong_data", "readers_that_misbehave",
            "signals_under_load", "logs_that_cannot_be_written", "few_descriptors",
            "connections_that_the_system_refuses", "clock_steps",
        ]
    )
    func eventsSurvive(scenario: String) async throws {
        let binary = try GatewayProcess.binary("lightstreamer-gateway").path
        let (status, output) = try await ForeignClientTests.script(
            "Soak/faults.py",
            ["--binary", binary, "--only", scenario]
        )
        #expect(status == 0, Comment(rawValue: output))
    }
}
