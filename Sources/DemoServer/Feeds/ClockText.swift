/// Time of day and dates as the feeds print them; computed by hand, for feeds have no other use for Foundation.
enum ClockText {
    /// `HH:MM:SS`, in UTC.
    static func timeOfDay(millisecondsSince1970 milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000 % 86_400
        return "\(twoDigits(seconds / 3_600)):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
