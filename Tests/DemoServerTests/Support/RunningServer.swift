internal import DemoServer

/// A server on a port of its own for the time of the body; its data do not change, the feed `HAND` is manual.
func withServer(
    _ change: (inout DemoServerConfiguration) -> Void = { _ in },
    _ body: (DemoServer, Int) async throws -> Void
) async throws {
    var configuration = DemoServerConfiguration()
    configuration.feeds.isMoving = false
    configuration.manualFeeds["HAND"] = ManualFeedConfiguration(fields: ["text"])
    change(&configuration)
    let server = DemoServer(configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        try await body(server, server.boundPort)
        group.cancelAll()
        try await group.waitForAll()
    }
}

/// A connection to a server of its own.
func withConnection(
    _ change: (inout DemoServerConfiguration) -> Void = { _ in },
    _ body: (inout RawConnection) async throws -> Void
) async throws {
    try await withServer(change) { _, port in try await RawConnection.open(port: port, body) }
}
