internal import TLCP

/// A scripted fault: its effect, when it takes effect, and how often.
public struct Fault: Sendable, Hashable {
    /// The effect.
    public var effect: FaultEffect
    /// When the fault takes effect.
    public var moment: FaultMoment
    /// Number of occasions that pass without effect before the first effect.
    public var skip: Int
    /// Number of occasions at which the fault takes effect; `Int.max`: all of them.
    public var times: Int

    /// A fault from its parts.
    ///
    /// - Parameters:
    ///   - effect: The effect.
    ///   - moment: When it takes effect; nil takes the default of the effect.
    ///   - skip: Occasions to skip first.
    ///   - times: Number of occasions; at least 1.
    public init(_ effect: FaultEffect, at moment: FaultMoment? = nil, skip: Int = 0, times: Int = 1) {
        self.effect = effect
        self.moment = moment ?? effect.defaultMoment
        self.skip = max(0, skip)
        self.times = max(1, times)
    }
}

/// An occasion at which a fault can take effect.
public enum FaultMoment: Sendable, Hashable {
    /// As soon as the fault is installed, on every stream connection that is open at that instant.
    case now

    /// After the given number of data notifications (at least 1) on one stream connection.
    case data(Int)

    /// When a request of this kind is received, in place of or in addition to its normal response.
    case request(FaultRequest)
}

/// The requests that faults distinguish.
public enum FaultRequest: String, Sendable, Hashable, CaseIterable {
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

extension ControlOperation {
    var faultRequest: FaultRequest {
        switch self {
        case .add: .add
        case .delete: .delete
        case .reconf: .reconf
        case .constrain: .constrain
        case .forceRebind: .forceRebind
        case .destroy: .destroy
        case .mpnRegister, .mpnResetBadge: .mobilePush
        }
    }
}
