/// The formats in which a server may send a value as a difference (`LS_supported_diffs`).
package struct DiffFormats: OptionSet, Sendable, Hashable {
    /// One bit for each format.
    package let rawValue: UInt8

    /// A set of these bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// JSON Patch, `P`.
    package static let jsonPatch = DiffFormats(rawValue: 1)
    /// TLCP-diff, `T`.
    package static let tlcpDiff = DiffFormats(rawValue: 2)
    /// Every format.
    package static let all: DiffFormats = [.jsonPatch, .tlcpDiff]

    /// The formats that a comma-separated list names; names that are not known are left out.
    package init(wire: String) {
        self = []
        for name in wire.utf8.split(separator: UInt8(ascii: ",")) {
            if name.elementsEqual("P".utf8) { insert(.jsonPatch) }
            if name.elementsEqual("T".utf8) { insert(.tlcpDiff) }
        }
    }

    /// The comma-separated list; empty for no format.
    package var wire: String {
        let names = [contains(.jsonPatch) ? "P" : nil, contains(.tlcpDiff) ? "T" : nil]
        return names.compactMap(\.self).joined(separator: ",")
    }
}
