internal import SessionCore

/// The status changes that the class reference allows.
struct StatusRules {
    private var present = ClientStatus.disconnected
    /// The status before the connection stalled.
    private var beforeStall: ClientStatus?

    private static let bound: Set<ClientStatus> = [
        .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling, .connectedHTTPPolling,
    ]

    private static let losses: Set<ClientStatus> = [
        .disconnectedTryingRecovery, .disconnectedWillRetry, .disconnected,
    ]

    /// One change.
    struct Change: Hashable {
        let from: ClientStatus
        let to: ClientStatus
    }

    /// Every change that is allowed.
    static var changes: Set<Change> {
        var changes: Set<Change> = []
        for status in ClientStatus.allCases {
            for before in [ClientStatus.connectedWSStreaming, .connectedHTTPStreaming] {
                let rules = StatusRules(present: status, beforeStall: status == .stalled ? before : nil)
                changes.formUnion(rules.successors.map { Change(from: status, to: $0) })
            }
        }
        return changes
    }

    /// The statuses that may follow the present one.
    private var successors: Set<ClientStatus> {
        switch present {
        case .disconnected: [.connecting]
        case .connecting: [.connectedWSStreaming, .connectedStreamSensing, .disconnectedWillRetry, .disconnected]
        case .connectedStreamSensing, .connectedWSPolling, .connectedHTTPPolling:
            Self.bound.union(Self.losses).subtracting([present])
        case .connectedWSStreaming, .connectedHTTPStreaming:
            Self.bound.union(Self.losses).union([.stalled]).subtracting([present])
        case .stalled: Self.losses.union(beforeStall.map { [$0] } ?? [])
        case .disconnectedTryingRecovery: Self.bound.union([.disconnectedWillRetry, .disconnected])
        case .disconnectedWillRetry: [.connecting, .disconnected]
        }
    }

    /// Checks the next status; false if it must not follow.
    mutating func allows(_ status: ClientStatus) -> Bool {
        guard successors.contains(status) else { return false }
        beforeStall = status == .stalled ? present : nil
        present = status
        return true
    }
}
