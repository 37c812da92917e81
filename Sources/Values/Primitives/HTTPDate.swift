#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The `Date` header (RFC 9110, section 5.6.7), made once a second.
package struct HTTPDate: Sendable {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private var second = -1
    private var made = ""

    /// A header that is not made yet.
    package init() {}

    /// The present date, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    package mutating func text() -> String {
        let present = time(nil)
        if present != second {
            second = present
            made = Self.text(for: present)
        }
        return made
    }

    /// The date of a time in seconds since 1970.
    package static func text(for second: Int) -> String {
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        let day = days[Int(parts.tm_wday) % 7]
        let month = months[Int(parts.tm_mon) % 12]
        let date = "\(twoDigits(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1900)"
        return "\(day), \(date) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):\(twoDigits(parts.tm_sec)) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
