package import JSONText
internal import Primitives

/// The JSON form of a value of a typed field. It has the digits that the server sent: nothing is rounded.
package enum TypedValue {
    /// Writes a value by its type, or as a string if the text is not of the type.
    ///
    /// - Returns: Whether the text is of the type.
    package static func write(_ text: String, as type: FieldType, to json: inout JSONBytes) -> Bool {
        let isOfType =
            switch type {
            case .string: false
            case .number: writeNumber(text, to: &json)
            case .integer: isInteger(text) && writeNumber(text, to: &json)
            case .boolean: writeBoolean(text, to: &json)
            case .timestampMilliseconds: writeTimestamp(text, fraction: 3, to: &json)
            case .timestampSeconds: writeTimestamp(text, fraction: 0, to: &json)
            case .json: writeJSON(text, to: &json)
            }
        if !isOfType { json.string(text) }
        return isOfType || type == .string
    }

    private static func writeNumber(_ text: String, to json: inout JSONBytes) -> Bool {
        guard JSONNumber(text) != nil else { return false }
        json.raw(text)
        return true
    }

    private static func isInteger(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
    }

    private static func writeBoolean(_ text: String, to json: inout JSONBytes) -> Bool {
        guard text.utf8.count <= 5 else { return false }
        switch text.lowercased() {
        case "true", "1": json.bool(true)
        case "false", "0": json.bool(false)
        default: return false
        }
        return true
    }

    /// Writes JSON on one line, as events require: line ends between its tokens become spaces.
    private static func writeJSON(_ text: String, to json: inout JSONBytes) -> Bool {
        var bytes = Array(text.utf8)
        guard (try? JSONValue(parsing: bytes)) != nil else { return false }
        for index in bytes.indices where bytes[index] == 0x0A || bytes[index] == 0x0D { bytes[index] = 0x20 }
        json.raw(bytes)
        return true
    }

    /// Writes a time in UTC by RFC 3339. `fraction` is the number of the last digits before the point that are a fraction
    /// of a second. All digits of the fraction are kept.
    private static func writeTimestamp(_ text: String, fraction: Int, to json: inout JSONBytes) -> Bool {
        let bytes = text.utf8
        let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        let whole = bytes[..<point]
        let rest = point == bytes.endIndex ? bytes[point...] : bytes[point...].dropFirst()
        guard point == bytes.endIndex || !rest.isEmpty, (1...15).contains(whole.count),
            whole.allSatisfy(\.isASCIIDigit), rest.allSatisfy(\.isASCIIDigit)
        else { return false }
        let seconds = whole.dropLast(fraction).reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard seconds <= latest else { return false }
        json.gap()
        json.bytes.append(UInt8(ascii: "\""))
        writeDate(seconds, to: &json.bytes)
        if fraction > 0 || !rest.isEmpty { json.bytes.append(UInt8(ascii: ".")) }
        json.bytes.append(contentsOf: repeatElement(0x30, count: max(0, fraction - whole.count)))
        json.bytes.append(contentsOf: whole.suffix(fraction))
        json.bytes.append(contentsOf: rest)
        json.bytes.append(contentsOf: [UInt8(ascii: "Z"), UInt8(ascii: "\"")])
        return true
    }

    /// The last second of the year 9999.
    private static let latest = 253_402_300_799

    /// Writes the date and time of a number of seconds since 1970, without a time zone. The date follows from the days
    /// since 0000-03-01 in the proleptic Gregorian calendar, whose cycle has 400 years.
    private static func writeDate(_ seconds: Int, to bytes: inout [UInt8]) {
        let days = seconds / 86_400 + 719_468
        let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        writePair(year / 100, to: &bytes)
        writePair(year % 100, after: nil, to: &bytes)
        writePair(month, after: "-", to: &bytes)
        writePair(dayOfYear - (153 * shifted + 2) / 5 + 1, after: "-", to: &bytes)
        let time = seconds % 86_400
        writePair(time / 3_600, after: "T", to: &bytes)
        writePair(time / 60 % 60, after: ":", to: &bytes)
        writePair(time % 60, after: ":", to: &bytes)
    }

    /// Writes two digits, behind a separator.
    private static func writePair(_ value: Int, after separator: Unicode.Scalar? = nil, to bytes: inout [UInt8]) {
        if let separator { bytes.append(UInt8(ascii: separator)) }
        bytes.append(0x30 + UInt8(value / 10))
        bytes.append(0x30 + UInt8(value % 10))
    }
}
