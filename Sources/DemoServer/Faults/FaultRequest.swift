/// The requests that faults tell apart.
package enum FaultRequest: String, Sendable, Hashable, CaseIterable {
    /// A WebSocket handshake.
    case handshake
    /// `wsok`.
    case wsok
    /// `create_session`.
    case create
    /// `bind_session` without `LS_recovery_from`.
    case bind
    /// `bind_session` with `LS_recovery_from`.
    case recovery
    /// Any of create, bind and recovery that opens a streaming connection.
    case streaming
    /// `control` with `LS_op=add`.
    case add
    /// `control` with `LS_op=delete`.
    case delete
    /// `control` with `LS_op=reconf`.
    case reconf
    /// `control` with `LS_op=constrain`.
    case constrain
    /// `control` with `LS_op=force_rebind`.
    case forceRebind = "force_rebind"
    /// `control` with `LS_op=destroy`.
    case destroy
    /// `msg`.
    case message = "msg"
    /// `control` with an operation of mobile push.
    case mobilePush = "mpn"
    /// `heartbeat`.
    case heartbeat
    /// Any line of `control` or `msg`.
    case control
}
