internal import FoundationEssentials

/// Times and durations in queries.
enum TimeText {
    /// How long ago a text is: a duration (`90`, `90s`, `1.5m`, `2h`), or an RFC 3339 time, which may lie in the future
    /// by the difference of two clocks. Nil for any other text, and for a time further in the future.
    static func age(_ text: String, now: Date = Date()) -> Duration? {
        if let seconds = seconds(text) { return .seconds(seconds) }
        guard let time = time(text) else { return nil }
        let age = now.timeIntervalSince(time)
        return (-greatestDifference...longest).contains(age) ? .seconds(max(age, 0)) : nil
    }

    /// The greatest difference of two clocks, in seconds.
    private static let greatestDifference = 600.0

    /// The longest duration, in seconds: 100 years.
    private static let longest = 3_155_760_000.0

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    private static func seconds(_ text: String) -> Double? {
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard digits.wholeMatch(of: /[0-9]+(\.[0-9]+)?/) != nil, let number = Double(digits) else { return nil }
        let seconds = number * (unit ?? 1)
        return seconds <= longest ? seconds : nil
    }

    private static func time(_ text: String) -> Date? {
        // A plus sign in a query is a space. RFC 3339, section 5.6: `t` and `z` may be lower case.
        let upper = text.replacing(" ", with: "+").uppercased()
        // Foundation reads up to nine digits of a fraction; a millisecond is enough here.
        var text = upper.replacing(/(\.[0-9]{3})[0-9]+/) { $0.output.1 }
        // A leap second, which Foundation does not read, is the second after it. It ends a month in UTC (RFC 3339, section 5.7).
        let isLeap = text.dropFirst(17).hasPrefix("60")
        if isLeap { text = "\(text.prefix(17))59\(text.dropFirst(19))" }
        // Foundation accepts 30 February and 99 o'clock, and counts on.
        let clock = text.prefix(19) + "Z"
        guard (try? Date.ISO8601FormatStyle().parse(String(clock)))?.formatted(.iso8601) == String(clock) else {
            return nil
        }
        let time =
            (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
        guard isLeap else { return time }
        guard let next = time?.addingTimeInterval(1), next.formatted(.iso8601).hasSuffix("-01T00:00:00Z") else {
            return nil
        }
        return next
    }
}
