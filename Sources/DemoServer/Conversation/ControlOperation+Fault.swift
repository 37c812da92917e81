internal import TLCP

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
