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

    /// A use.
    package init(name: String, rate: Double, burst: Double, admitted: Int, attempts: Int) {
        self.name = name
        self.rate = rate
        self.burst = burst
        self.admitted = admitted
        self.attempts = attempts
    }
}

extension ByteWriter {
    mutating func rates(_ uses: [RateUse]) {
        list(uses) { writer, use in
            writer.string(use.name)
            writer.double(use.rate)
            writer.double(use.burst)
            writer.size(use.admitted)
            writer.size(use.attempts)
        }
    }
}

extension ByteReader {
    mutating func rates() throws(CodingError) -> [RateUse] {
        try list { reader throws(CodingError) in
            let use = RateUse(
                name: try reader.string(),
                rate: try reader.double(),
                burst: try reader.double(),
                admitted: try reader.size(),
                attempts: try reader.size()
            )
            guard use.rate.isFinite, use.rate > 0, use.burst.isFinite, use.burst >= 1 else { throw .malformed }
            return use
        }
    }
}
