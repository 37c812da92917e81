/// The requests of one name that a member has counted since its last heartbeat.
package struct RateUse: Sendable, Equatable {
    /// The subject of a rate limit, for instance an address.
    package let name: String
    /// Its requests a second, and how many are admitted at once.
    package let rate: Double
    package let burst: Double
    /// The requests that the member has admitted.
    package let admitted: Int
    /// The requests that the member has received, admitted or not.
    package let attempts: Int
}

extension Wire<RateUse> {
    static let rate = Wire(
        { (name: String, rate: Double, burst: Double, admitted: Int, attempts: Int) throws(CodingError) in
            guard rate.isFinite, rate > 0, burst.isFinite, burst >= 1 else { throw .malformed }
            return RateUse(name: name, rate: rate, burst: burst, admitted: admitted, attempts: attempts)
        },
        (\.name, .string),
        (\.rate, .double),
        (\.burst, .double),
        (\.admitted, .size),
        (\.attempts, .size)
    )
}
