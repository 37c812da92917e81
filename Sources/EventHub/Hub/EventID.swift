internal import JSONText

/// The id of a data event, `<epoch>-<sequence>`.
struct EventID: Equatable, Sendable {
    /// Names the life of one hub; has no meaning beyond it.
    let epoch: String
    /// The place in the order of all events of that hub.
    let sequence: UInt64

    /// An id from its parts.
    init(epoch: String, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Reads an id; nil for anything else.
    init?(_ text: String) {
        guard let dash = text.utf8.lastIndex(of: UInt8(ascii: "-")) else { return nil }
        let digits = text[text.utf8.index(after: dash)...]
        guard dash != text.startIndex, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let sequence = UInt64(digits)
        else { return nil }
        self.init(epoch: String(text[..<dash]), sequence: sequence)
    }
}
