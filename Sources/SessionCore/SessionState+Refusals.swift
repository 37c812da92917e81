extension SessionState {
    private static func isRetryable(conerr code: Int) -> Bool { [4, 6, 20, 40, 41, 48].contains(code) }
    private static func isRetryable(end code: Int) -> Bool { code == 41 || code == 48 }

    /// What a `CONERR` on the session's connection means.
    func refusal(code: Int, message: String) -> Refusal {
        switch self {
        case .idle:
            return .ignored
        case .retrying:
            return .ignored
        case .creating(let creation):
            let cause = "\(creation.way.causePrefix).conerr.\(code)"
            if code == 5 { return .serverOverloaded(cause: cause) }
            if code == 65 { return .versionRefused }
            return Self.isRetryable(conerr: code) ? .creationFailed(cause: cause) : .final
        case .bound(let binding):
            let cause = "\(binding.rung.causePrefix).conerr.\(code)"
            if Self.isRetryable(conerr: code) { return .sessionLost(cause: cause, wait: .retryDelay) }
            return Self.speaksOfVersion(code: code, message: message) ? .versionRefused : .final
        case .recovering:
            let cause = "recovery.conerr.\(code)"
            if Self.isRetryable(conerr: code) { return .sessionLost(cause: cause, wait: .firstRetry) }
            return Self.speaksOfVersion(code: code, message: message) ? .versionRefused : .final
        }
    }

    private static func speaksOfVersion(code: Int, message: String) -> Bool {
        code == 65 && message.lowercased().contains("protocol version")
    }

    /// What an `END` on the session's connection means. On a creation that was not answered yet it has no meaning.
    func closure(code: Int) -> Refusal {
        switch self {
        case .idle:
            return .ignored
        case .retrying:
            return .ignored
        case .creating:
            return .ignored
        case .bound(let binding):
            guard Self.isRetryable(end: code) else { return .final }
            let isPushing = binding.step == .streaming || binding.step == .polling
            return .sessionLost(
                cause: "\(binding.rung.causePrefix).end.\(code)",
                wait: isPushing ? .firstRetry : .retryDelay
            )
        case .recovering:
            guard Self.isRetryable(end: code) else { return .final }
            return .sessionLost(cause: "recovery.end.\(code)", wait: .firstRetry)
        }
    }

    /// The code that is reported for an `END` that no retry can help.
    static func reportedCode(end code: Int) -> Int { code <= 0 || (30...39).contains(code) ? code : 39 }
}
