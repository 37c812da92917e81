internal import Testing

/// The fault suite of `Tests/Soak` against the built program.
@Suite struct FaultTests {
    /// Each scenario starts its own processes.
    @Test(.enabled(if: ForeignClientTests.hasTools, "needs .ci/setup tests"))
    func eventsSurviveFaults() async throws {
        let scenarios = [
            "cut_after_every_line", "connections_that_break", "restarted_server",
            "restarted_server_with_its_sessions", "slow_name_lookup", "wrong_data", "readers_that_misbehave",
            "signals_under_load", "logs_that_cannot_be_written", "few_descriptors",
            "connections_that_the_system_refuses", "clock_steps",
        ]
        let binary = try GatewayProcess.binary("lightstreamer-gateway").path
        try await ForeignClientTests.expectSuccess(
            of: scenarios.map { ["Soak/faults.py", "--binary", binary, "--only", $0] },
            width: 3
        )
    }
}
