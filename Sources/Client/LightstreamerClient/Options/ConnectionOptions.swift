public import SessionCore

/// The connection options of one client. Times are seconds.
///
/// Getters return the value in force: `keepaliveInterval`, `idleTimeout`, `pollingInterval` and `currentConnectTimeout`
/// may be overwritten by the server or the library; `requested` keeps what the user set. A setter takes effect as the
/// class reference defines for its property, notifies `didChangeProperty` if the value is another one, and throws
/// `ClientError` with `invalidValue` for a value that the reference refuses.
public final class ConnectionOptions: Sendable, CustomStringConvertible {
    private let core: ClientCore

    init(core: ClientCore) { self.core = core }

    /// All options as they are in force now.
    public var values: ConnectionOptionValues { core.state.withLock { $0.options } }

    /// All options as last set by the user.
    public var requested: ConnectionOptionValues { core.state.withLock { $0.requestedOptions } }

    /// The bandwidth limit in force; nil without a session, or before the server has sent it.
    public var realMaxBandwidth: RealMaxBandwidth? { core.state.withLock { $0.session.realMaxBandwidth } }

    /// Changes any number of options at once: all, or none if one value is refused. The closure is called twice, on
    /// the values in force and on the requested ones, and must do the same to both.
    public func update(_ change: (inout ConnectionOptionValues) -> Void) throws(ClientError) {
        try core.updateOptions(change)
    }

    /// The options that differ from the defaults of the newer class reference; header values are left out.
    public var description: String {
        let values = values
        let defaults = ConnectionOptionValues()
        let changed = ConnectionOption.all.filter { $0.differs(values, defaults) }.map(\.name)
        return "ConnectionOptions(\(changed.isEmpty ? "defaults" : "changed: " + changed.joined(separator: ", ")))"
    }
}
