internal import NIOCore
internal import Synchronization

/// The open channels of one client, so that its end can wait for theirs.
final class ChannelRegistry: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Takes in a channel until it is closed; false once the registry is.
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

    /// Takes nothing more in.
    func close() { state.withLock { $0.isClosed = true } }

    /// Closes every channel at once.
    func cut() {
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
    }

    /// Waits until every channel is closed.
    func drained() async {
        let channels = state.withLock { Array($0.channels.values) }
        // How a channel ended is of no interest any more.
        for channel in channels { _ = try? await channel.closeFuture.get() }
    }
}
