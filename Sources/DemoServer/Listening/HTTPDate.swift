/// Instants as HTTP headers write them; computed by hand, for nothing else here needs a calendar.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, for 784111777 seconds; not before 1970.
    static func text(secondsSince1970 seconds: Int64) -> String {
        let seconds = max(0, seconds)
        let day = seconds / 86_400
        // Years that begin in March have their leap day at their end; eras of 400 years are all alike.
        let sinceMarch = day + 719_468
        let dayOfEra = sinceMarch % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + sinceMarch / 146_097 * 400 + (month >= 10 ? 1 : 0)
        let date = "\(days[Int(day % 7)]), \(twoDigits(dayOfMonth)) \(months[Int(month)]) \(year)"
        let clock = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(twoDigits).joined(separator: ":")
        return "\(date) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
