internal import SessionCore

/// Sessions in different phases.
extension SessionHarness {
    /// `connect()` was called.
    static func connecting(_ changeOptions: OptionChange = { _ in }) -> SessionHarness {
        let harness = SessionHarness(changeOptions)
        harness.connect()
        return harness
    }

    /// The WebSocket of the creation is open.
    static func opened(_ changeOptions: OptionChange = { _ in }) -> SessionHarness {
        let harness = connecting(changeOptions)
        harness.open()
        return harness
    }

    /// Created and streaming on a WebSocket that has proved to work; the trace begins after it.
    static func streamingOnSocket(_ changeOptions: OptionChange = { _ in }) -> SessionHarness {
        let harness = opened(changeOptions)
        harness.receive("WSOK", "CONOK,sid,70000,5000,*", "PROBE")
        _ = harness.takeTrace()
        return harness
    }

    /// Created over HTTP, waiting for `LOOP`.
    static func sensing(_ changeOptions: OptionChange = { _ in }) -> SessionHarness {
        let harness = connecting(changeOptions)
        if harness.orders[harness.stream]?.kind == .webSocket { harness.breakStream() }
        harness.receive("CONOK,sid,70000,5000,*")
        _ = harness.takeTrace()
        return harness
    }

    /// Bound to the transport of the option, on a connection that has proved to work.
    static func bound(_ forced: ForcedTransport, _ changeOptions: OptionChange = { _ in }) -> SessionHarness {
        let harness = sensing {
            changeOptions(&$0)
            $0.forcedTransport = forced
            $0.earlyWSOpenEnabled = false
        }
        harness.receive("LOOP,0")
        switch forced {
        case .ws, .wsStreaming:
            harness.open("WSOK", "CONOK,sid,70000,5000,*")
        case .wsPolling:
            harness.open("WSOK", "CONOK,sid,70000,19000,*")
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
