/// The length of the queue of pending updates of an item (`LS_requested_buffer_size`).
package enum BufferSize: Sendable, Hashable {
    /// At most this many updates.
    case limited(Int)
    /// As many as the server allows.
    case unlimited

    init?(wire: String) {
        if wire == "unlimited" {
            self = .unlimited
        } else if let size = WireNumber.count(Array(wire.utf8)[...]) {
            self = .limited(size)
        } else {
            return nil
        }
    }

    var wire: String {
        switch self {
        case .limited(let size): String(size)
        case .unlimited: "unlimited"
        }
    }
}
