internal import NIOCore
internal import Primitives

/// The open channels of one client, for its shutdown.
final class ChannelRegistry: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let state = RankedMutex(State())

    /// Adds a channel until it is closed; false if the registry is closed.
    func add(_ channel: any Channel) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.channels[ObjectIdentifier(channel)] = channel }
            return !state.isClosed
        }
        if isOpen {
            channel.closeFuture.whenComplete { [self] _ in
                state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
            }
        }
        return isOpen
    }

    /// Rejects further channels.
    func close() { state.withLock { $0.isClosed = true } }

    func closeChannels() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }

    func waitUntilEmpty() async {
        let channels = state.withLock { Array($0.channels.values) }
        // Errors of closed channels have been reported by their transports.
        for channel in channels { _ = try? await channel.closeFuture.get() }
    }
}
