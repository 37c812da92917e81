/// Amounts in hundredths, printed with two digits.
enum CentText {
    /// `-12.05` for −1205.
    static func text(_ cents: Int) -> String {
        let magnitude = cents.magnitude
        let fraction = magnitude % 100
        return "\(cents < 0 ? "-" : "")\(magnitude / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
