/// What `sendMessage` admits.
enum MessageRules {
    /// The refusal of a sequence name or timeout; nil for admitted ones. The name that the protocol keeps for itself,
    /// `UNORDERED_MESSAGES`, is admitted and means no sequence.
    static func violation(sequence: String?, delayTimeout: Double?) -> ClientError? {
        if let sequence, sequence.isEmpty || !sequence.utf8.allSatisfy(isWordByte) {
            return ClientError(
                .invalidValue,
                property: "sequence",
                value: sequence,
                rule: "The given sequence name is not valid. Use only alphanumeric characters plus underscore or null"
            )
        }
        if let delayTimeout, !(delayTimeout.isFinite && delayTimeout <= OptionRules.longest) {
            return ClientError(
                .invalidValue,
                property: "delayTimeout",
                value: "\(delayTimeout)",
                rule: "must be a number of seconds"
            )
        }
        return nil
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
        default: false
        }
    }
}
