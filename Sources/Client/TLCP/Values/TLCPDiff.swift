/// The difference between two texts in the format `T`, counted in UTF-16 code units.
///
///     diff   = copy [ add [ del [ diff ] ] ]
///     copy   = varint              copies a number of units of the base
///     add    = varint *char        inserts the number of units that follow
///     del    = varint              skips a number of units of the base
///     varint = *( A-Z ) a-z        base 26, most significant digit first; the lower-case letter is the last
package enum TLCPDiff {
    /// Applies a diff to a base; nil if the diff is malformed or exceeds the base.
    package static func apply(_ diff: String, to base: String) -> String? {
        // In ASCII text each byte is a unit, and bytes need no conversion.
        if isASCII(base), isASCII(diff) {
            return apply(Array(diff.utf8), to: Array(base.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        return apply(Array(diff.utf16), to: Array(base.utf16)).flatMap { String(validating: $0, as: UTF16.self) }
    }

    private static func isASCII(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in bytes.reduce(0) { $0 | $1 } < 0x80 }
    }

    private static func apply<Unit: UnsignedInteger & FixedWidthInteger>(_ diff: [Unit], to base: [Unit]) -> [Unit]? {
        var reader = Reader(units: diff)
        var result: [Unit] = []
        result.reserveCapacity(base.count + diff.count)
        var position = 0
        while !reader.isAtEnd {
            guard let copied = reader.varint(), copied <= base.count - position else { return nil }
            result.append(contentsOf: base[position..<position + copied])
            position += copied
            if reader.isAtEnd { break }
            guard let added = reader.varint(), let units = reader.take(added) else { return nil }
            result.append(contentsOf: units)
            if reader.isAtEnd { break }
            guard let deleted = reader.varint(), deleted <= base.count - position else { return nil }
            position += deleted
        }
        return result
    }

    /// A diff between two texts, by their common head and tail; nil if one of them contains a character outside the
    /// Basic Multilingual Plane, because clients disagree on the unit that such characters are counted in.
    package static func encode(from old: String, to new: String) -> String? {
        let old = Array(old.utf16)
        let new = Array(new.utf16)
        guard !old.contains(where: UTF16.isSurrogate), !new.contains(where: UTF16.isSurrogate) else { return nil }
        let shorter = min(old.count, new.count)
        var head = 0
        while head < shorter, old[head] == new[head] { head += 1 }
        var tail = 0
        while tail < shorter - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] { tail += 1 }
        let added = new[head..<new.count - tail]
        let deleted = old.count - head - tail
        var diff = varint(head)
        if !added.isEmpty || tail > 0 { diff += varint(added.count) + added }
        if tail > 0 { diff += varint(deleted) + varint(tail) }
        return String(decoding: diff, as: UTF16.self)
    }

    private static func varint(_ value: Int) -> [UInt16] {
        var units = [UInt16(0x61 + value % 26)]
        var rest = value / 26
        while rest > 0 {
            units.append(UInt16(0x41 + rest % 26))
            rest /= 26
        }
        return units.reversed()
    }

    private struct Reader<Unit: UnsignedInteger & FixedWidthInteger> {
        let units: [Unit]
        var position = 0

        init(units: [Unit]) { self.units = units }

        var isAtEnd: Bool { position == units.count }

        /// Reads a number; nil if it is malformed or out of range.
        mutating func varint() -> Int? {
            var value = 0
            while position < units.count {
                let unit = units[position]
                position += 1
                let isLast = unit >= 0x61
                let digit = Int(unit) - (isLast ? 0x61 : 0x41)
                guard (0..<26).contains(digit) else { return nil }
                let (product, tooBig) = value.multipliedReportingOverflow(by: 26)
                let (sum, tooBigStill) = product.addingReportingOverflow(digit)
                if tooBig || tooBigStill { return nil }
                value = sum
                if isLast { return value }
            }
            return nil
        }

        mutating func take(_ count: Int) -> ArraySlice<Unit>? {
            guard count <= units.count - position else { return nil }
            defer { position += count }
            return units[position..<position + count]
        }
    }
}

/// The formats in which a server may send a value as a diff (`LS_supported_diffs`).
package struct DiffFormats: OptionSet, Sendable, Hashable {
    /// A bit for each format.
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// JSON Patch, `P`.
    package static let jsonPatch = DiffFormats(rawValue: 1)
    /// TLCP-diff, `T`.
    package static let tlcpDiff = DiffFormats(rawValue: 2)
    package static let all: DiffFormats = [.jsonPatch, .tlcpDiff]

    /// Parses a comma-separated list; unknown names are ignored.
    package init(wire: String) {
        self = []
        for name in wire.utf8.split(separator: UInt8(ascii: ",")) {
            if name.elementsEqual("P".utf8) { insert(.jsonPatch) }
            if name.elementsEqual("T".utf8) { insert(.tlcpDiff) }
        }
    }

    /// The comma-separated list; empty if there is no format.
    package var wire: String {
        let names = [contains(.jsonPatch) ? "P" : nil, contains(.tlcpDiff) ? "T" : nil]
        return names.compactMap(\.self).joined(separator: ",")
    }
}
