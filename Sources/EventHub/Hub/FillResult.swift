package import SessionCore

/// What a stream says about itself after it gave its bytes.
package enum FillResult: Equatable, Sendable {
    /// Nothing more is due before this moment, unless something is published.
    case idle(wakeAt: Moment)
    /// More is due than the sink likes to take.
    case more
    /// These were the last bytes.
    case finished
}
