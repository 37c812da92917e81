internal import DemoServer
internal import LightstreamerClient

/// Runs a test with a client of a demo server over loopback sockets; `MANUAL` has the items `a` and `b` with the fields `x`
/// and `y`, and publishes what the test publishes.
func withDemoServer(
    _ configure: (inout DemoServerConfiguration) -> Void = { _ in },
    _ body: (LightstreamerClient, DemoServer) async throws -> Void
) async throws {
    var configuration = DemoServerConfiguration()
    configuration.manualFeeds = ["MANUAL": ManualFeedConfiguration(items: ["a", "b"], fields: ["x", "y"])]
    configure(&configuration)
    let server = DemoServer(configuration)
    let serving = Task { try await server.run() }
    defer { serving.cancel() }
    let address = "http://127.0.0.1:\(try await server.boundPort)"
    try await withLightstreamerClient(serverAddress: address, adapterSet: "DEMO") { client in
        try await body(client, server)
    }
    serving.cancel()
    _ = await serving.result
}
