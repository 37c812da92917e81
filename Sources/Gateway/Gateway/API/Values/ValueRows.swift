struct ValueRows {
    private(set) var bytes: [UInt8] = []

    /// Comma-separated values with a header line; lines end with CR LF (RFC 4180). Null is an empty field, an empty text
    /// is `""`.
    init(csv header: [String], _ rows: [[String?]]) {
        for row in [header] + rows {
            for (column, value) in row.enumerated() {
                if column > 0 { bytes.append(UInt8(ascii: ",")) }
                if let value { quote(value) }
            }
            bytes += [0x0D, 0x0A]
        }
    }

    /// Values separated by tabs, one row a line, without the item in their first column if there is one row. Null is an
    /// empty text. Tabs, line ends and backslashes in values are written as `\t`, `\n`, `\r` and `\\`.
    init(tabs rows: [[String?]]) {
        for row in rows {
            let values = rows.count == 1 ? row.dropFirst() : row[...]
            for (column, value) in zip(values.indices, values) {
                if column > values.startIndex { bytes.append(0x09) }
                if let value { escape(value) }
            }
            bytes.append(0x0A)
        }
    }

    private mutating func quote(_ value: String) {
        let needsQuotes =
            value.isEmpty || value.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
            || value.hasPrefix(" ") || value.hasSuffix(" ")
        guard needsQuotes else {
            bytes += value.utf8
            return
        }
        bytes.append(0x22)
        for byte in value.utf8 {
            if byte == 0x22 { bytes.append(0x22) }
            bytes.append(byte)
        }
        bytes.append(0x22)
    }

    private mutating func escape(_ value: String) {
        for byte in value.utf8 {
            switch byte {
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            default: bytes.append(byte)
            }
        }
    }
}
