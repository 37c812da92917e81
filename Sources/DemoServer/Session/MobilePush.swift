internal import Primitives
internal import TLCP

/// The responses to mobile push (MPN) requests; no notification is pushed to a device.
package enum MobilePushPolicy: Sendable, Hashable {
    /// Every MPN request is refused with code 40.
    case disabled
    /// Devices can be registered and their badges reset; there are no push subscriptions.
    case devicesOnly

    /// The refusal of every request of a server without the module.
    static let withoutModule = ControlRefusal(code: 40, message: "MPN Module disabled")

    /// The refusal of a request of a session with this device; nil if it is granted.
    func refusal(of operation: ControlOperation, device: String?) -> ControlRefusal? {
        guard self == .devicesOnly else { return Self.withoutModule }
        switch operation {
        case .mpnRegister(let request):
            guard request.platform == "Apple" || request.platform == "Google" else {
                return ControlRefusal(code: 42, message: "Unknown platform")
            }
            return request.appID.isEmpty ? ControlRefusal(code: 43, message: "Unknown application ID") : nil
        case .mpnResetBadge(let request):
            return device == request.deviceID ? nil : ControlRefusal(code: 45, message: "Unknown device ID")
        default:
            return nil
        }
    }
}

extension MPNRegisterRequest {
    /// The identifier of the device, 36 characters long: the same one in every session.
    var assignedDeviceID: String {
        let token = newDeviceToken ?? deviceToken
        var generator = SplitMix64(seed: 0, part: "\(platform) \(appID) \(token)")
        var digits = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        while digits.count < 32 { digits += "0" }
        var groups: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }
}
