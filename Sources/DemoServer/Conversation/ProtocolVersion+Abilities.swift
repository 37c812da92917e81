internal import TLCP

extension ProtocolVersion {
    /// The version that the query string of an HTTP request names; nil if it names none.
    init?(query: String) {
        let prefix = "LS_protocol="
        guard let piece = query.split(separator: "&").last(where: { $0.hasPrefix(prefix) }),
            let text = PercentCoding.decode(parameter: Array(piece.utf8.dropFirst(prefix.utf8.count))[...])
        else { return nil }
        self.init(protocolParameter: text)
    }

    /// Whether clients of this version understand differences in place of values; they do since 2.4.
    var hasDiffs: Bool { (major, minor) >= (2, 4) }

    /// Whether `MSGDONE` has a response; it has since 2.5, and clients of earlier versions may stumble over one.
    var hasResponses: Bool { (major, minor) >= (2, 5) }
}
