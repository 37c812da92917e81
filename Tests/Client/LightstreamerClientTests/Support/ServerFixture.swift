internal import LightstreamerClient
internal import LightstreamerTesting

/// Runs a test with a client of a test server over loopback sockets; `MANUAL` has the items `a` and `b` with the fields `x` and
/// `y`.
func withServer(
    _ options: TestServerOptions = TestServerOptions(),
    _ body: (LightstreamerClient, TestServer) async throws -> Void
) async throws {
    let adapter = TestAdapter("MANUAL", items: ["a", "b"], fields: ["x", "y"])
    try await withTestServer(adapter, options: options) { server in
        try await withLightstreamerClient(serverAddress: server.address) { client in
            try await body(client, server)
        }
    }
}

/// A subscription to the field `x` of an item of `MANUAL`.
func manualSubscription(item: String) throws -> Subscription {
    let subscription = try Subscription(mode: .merge, items: [item], fields: ["x"])
    try subscription.setDataAdapter("MANUAL")
    return subscription
}
