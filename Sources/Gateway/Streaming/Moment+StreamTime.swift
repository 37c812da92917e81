internal import MicroHTTPD
internal import SessionCore

extension Moment {
    /// The same moment; both count the nanoseconds of the system's monotonic clock.
    init(_ time: StreamTime) {
        self.init(nanoseconds: Int64(clamping: time.nanoseconds))
    }
}

extension StreamTime {
    /// The same moment.
    init(_ moment: Moment) {
        self.init(nanoseconds: UInt64(clamping: moment.nanoseconds))
    }
}
