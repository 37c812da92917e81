internal import JSONText

/// The JSON form of a value of a typed field. It has the digits that the server sent: nothing is rounded.
enum TypedValue {
    /// The value as JSON; nil if the text is not of the type.
    static func json(_ text: String, as type: FieldType) -> [UInt8]? {
        switch type {
        case .string:
            var json = JSONBytes()
            json.string(text)
            return json.bytes
        case .number: return JSONNumber(text) == nil ? nil : Array(text.utf8)
        case .integer: return isInteger(text) ? Array(text.utf8) : nil
        case .boolean: return boolean(text)
        case .timestampMilliseconds: return timestamp(text, fraction: 3)
        case .timestampSeconds: return timestamp(text, fraction: 0)
        case .json: return (try? JSONValue(parsing: Array(text.utf8))) == nil ? nil : Array(text.utf8)
        }
    }

    private static func isInteger(_ text: String) -> Bool {
        JSONNumber(text) != nil && text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    private static func boolean(_ text: String) -> [UInt8]? {
        switch text.lowercased() {
        case "true", "1": Array("true".utf8)
        case "false", "0": Array("false".utf8)
        default: nil
        }
    }

    /// A time in UTC by RFC 3339. `fraction` is the number of the last digits before the point that are a fraction of a
    /// second. All digits of the fraction are kept.
    private static func timestamp(_ text: String, fraction: Int) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 1 || !parts[1].isEmpty, parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }),
            (1...15).contains(parts[0].count)
        else { return nil }
        let zeros = [UInt8](repeating: 0x30, count: max(0, fraction + 1 - parts[0].count))
        let digits = zeros + parts[0]
        guard let seconds = Int(String(decoding: digits.dropLast(fraction), as: UTF8.self)), seconds <= latest else {
            return nil
        }
        let rest = Array(digits.suffix(fraction)) + (parts.count > 1 ? Array(parts[1]) : [])
        return Array("\"\(date(seconds))".utf8) + (rest.isEmpty ? [] : [UInt8(ascii: ".")] + rest) + Array("Z\"".utf8)
    }

    /// The last second of the year 9999.
    private static let latest = 253_402_300_799

    /// The date and time of a number of seconds since 1970, without a time zone. The date follows from the days since
    /// 0000-03-01 in the proleptic Gregorian calendar, whose cycle has 400 years.
    private static func date(_ seconds: Int) -> String {
        let days = seconds / 86_400 + 719_468
        let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let time = seconds % 86_400
        let fields = [(year, 4), (month, 2), (day, 2), (time / 3_600, 2), (time / 60 % 60, 2), (time % 60, 2)]
        let texts = fields.map { number, width in
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        return texts[0...2].joined(separator: "-") + "T" + texts[3...5].joined(separator: ":")
    }
}
