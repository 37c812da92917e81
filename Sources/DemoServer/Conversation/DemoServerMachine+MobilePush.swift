internal import TLCP

extension DemoServerMachine {
    /// Why a mobile push request is not granted; nil if it is.
    func mobilePushRefusal(of operation: ControlOperation, in handle: SessionHandle) -> ControlRefusal? {
        guard context.configuration.mobilePush == .devicesOnly else {
            return ControlRefusal(code: 40, message: "MPN Module disabled")
        }
        let device = sessions[handle].flatMap { devices[$0.id.rawValue] }
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

    /// Registers a device, or resets its badge.
    mutating func executeMobilePush(_ operation: ControlOperation, in handle: SessionHandle) {
        guard let session = sessions[handle]?.id.rawValue else { return }
        switch operation {
        case .mpnRegister(let request):
            let device = DemoServerMachine.deviceID(request)
            devices[session] = device
            sessions[handle]?.notify(.mpnReg(deviceID: device, adapter: "MPN_INTERNAL_DATA_ADAPTER"), &context)
        case .mpnResetBadge(let request):
            sessions[handle]?.notify(.mpnZero(deviceID: request.deviceID), &context)
        default:
            break
        }
        sessions[handle]?.pump(&context)
    }

    /// The same device gets the same identifier, 36 characters long, in every session.
    private static func deviceID(_ request: MPNRegisterRequest) -> String {
        let token = request.newDeviceToken ?? request.deviceToken
        var generator = SeededGenerator(seed: 0, part: "\(request.platform) \(request.appID) \(token)")
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
