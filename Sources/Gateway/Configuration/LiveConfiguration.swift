internal import Synchronization

/// The configuration that holds at present: the one of the start, until another is loaded.
package final class LiveConfiguration: Sendable {
    private let present: Mutex<GatewayConfiguration>

    /// The configuration of the start.
    package init(_ configuration: GatewayConfiguration) { present = Mutex(configuration) }

    /// What holds now.
    package var value: GatewayConfiguration { present.withLock { $0 } }

    /// Another configuration holds from now on.
    package func replace(by configuration: GatewayConfiguration) { present.withLock { $0 = configuration } }
}
