internal import SessionCore

/// Sessions in different phases.
extension SessionHarness {
    /// Connected, created and streaming on a WebSocket that has proved to work; the trace begins after it.
    static func streamingOnSocket(_ options: ConnectionOptionValues = officialOptions) -> SessionHarness {
        let harness = SessionHarness(options)
        harness.connect()
        harness.open()
        harness.receive("WSOK", "CONOK,sid,70000,5000,*", "PROBE")
        _ = harness.takeTrace()
        return harness
    }

    /// Created over HTTP, waiting for `LOOP`.
    static func sensing(_ options: ConnectionOptionValues = officialOptions) -> SessionHarness {
        let harness = SessionHarness(options)
        harness.connect()
        if harness.orders[harness.stream]?.kind == .webSocket { harness.breakStream() }
        harness.receive("CONOK,sid,70000,5000,*")
        _ = harness.takeTrace()
        return harness
    }

    /// Bound to the transport of the option, on a connection that has proved to work.
    static func bound(
        _ forced: ForcedTransport,
        _ options: ConnectionOptionValues = officialOptions
    ) -> SessionHarness {
        var options = options
        options.forcedTransport = forced
        options.earlyWSOpenEnabled = false
        let harness = sensing(options)
        harness.receive("LOOP,0")
        switch forced {
        case .ws, .wsStreaming:
            harness.open()
            harness.receive("WSOK", "CONOK,sid,70000,5000,*")
        case .wsPolling:
            harness.open()
            harness.receive("WSOK", "CONOK,sid,70000,19000,*")
        case .http, .httpStreaming:
            harness.receive("CONOK,sid,70000,5000,*")
        case .httpPolling:
            harness.receive("CONOK,sid,70000,19000,*")
        }
        harness.receive("PROBE")
        _ = harness.takeTrace()
        return harness
    }
}
