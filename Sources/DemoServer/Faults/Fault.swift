internal import TLCP

/// One piece of scripted misbehaviour: what happens, when, and how often.
package struct Fault: Sendable, Hashable {
    /// What goes wrong.
    package var effect: FaultEffect

    /// When it strikes.
    package var moment: FaultMoment

    /// Occasions that pass before it strikes for the first time.
    package var skip: Int

    /// How many times it strikes before it is used up; `Int.max` stands for always.
    package var times: Int

    /// A fault from its parts.
    ///
    /// - Parameters:
    ///   - effect: What goes wrong.
    ///   - moment: When it strikes; nil takes the effect's own natural moment.
    ///   - skip: Occasions to let pass first.
    ///   - times: Number of strikes; at least 1.
    package init(_ effect: FaultEffect, at moment: FaultMoment? = nil, skip: Int = 0, times: Int = 1) {
        self.effect = effect
        self.moment = moment ?? effect.naturalMoment
        self.skip = max(0, skip)
        self.times = max(1, times)
    }
}

/// An occasion at which a fault can strike.
package enum FaultMoment: Sendable, Hashable {
    /// As soon as the fault is installed, on every stream connection that is open at that instant.
    case now

    /// Right after the given number of data notifications (at least 1) was written on one stream connection.
    case data(Int)

    /// When a request of this kind arrives, in place of or beside its normal answer.
    case request(FaultRequest)
}

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

extension ControlOperation {
    /// The moment at which faults of this request strike.
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
