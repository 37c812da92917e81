extension SessionState {
    /// Where control and message requests go now.
    var controlRoute: ControlRoute {
        binding?.controlRoute ?? .closed
    }
}

extension SessionBinding {
    fileprivate var controlRoute: ControlRoute {
        switch step {
        case .preflight, .opening, .greeting:
            .closed
        case .asked where rung == .webSocketStreaming:
            .closed
        case .asked, .pollingForced, .streaming, .polling, .pausing:
            rung.usesWebSocket ? connection.map { .socket($0) } ?? .closed : .http
        }
    }
}
