internal import JSONText

/// A part of a recording that was written without an interruption: one subscription, and the time at which it began.
package struct RecordedSegment: Sendable, Hashable {
    /// The most values that the rows of all items have together: each item has a row in memory.
    package static let mostValues = Frame.mostColumns / 16

    /// The wall-clock time at which the segment begins, in milliseconds since 1970; times of events count from here.
    package var start: Int64
    /// The adapter set of the session; nil: the server's default, or not known.
    package var adapterSet: String?
    /// The Data Adapter of the subscription; nil: the server's default.
    package var dataAdapter: String?
    /// `MERGE`, `DISTINCT`, `COMMAND` or `RAW`.
    package var mode: String
    /// The names of the items, in the order to which `RecordedEvent.item` refers.
    package var items: [String]
    /// The names of the fields, in the order of the values of a row.
    package var fields: [String]

    package init(
        start: Int64,
        adapterSet: String? = nil,
        dataAdapter: String? = nil,
        mode: String,
        items: [String],
        fields: [String]
    ) {
        self.start = start
        self.adapterSet = adapterSet
        self.dataAdapter = dataAdapter
        self.mode = mode
        self.items = items
        self.fields = fields
    }
}

/// An event of a recorded subscription.
package struct RecordedEvent: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// The item has a row of these values, one for each field of the segment; nil is null.
        case row([String?], isSnapshot: Bool)
        /// The snapshot of the item is complete.
        case endOfSnapshot
        /// The item was cleared.
        case cleared
        /// This number of updates of the item was lost.
        case lost(Int)
        /// The subscription began again, with new snapshots of all items; `item` is 0.
        case restarted
    }

    /// The time of arrival, in milliseconds since the segment's start, 0 or more.
    package var time: Int64
    /// The index of the item in the segment.
    package var item: Int
    package var content: Content

    package init(time: Int64, item: Int, _ content: Content) {
        self.time = time
        self.item = item
        self.content = content
    }

    /// Events are equal if the bytes of their values are.
    package static func == (left: RecordedEvent, right: RecordedEvent) -> Bool {
        guard left.time == right.time, left.item == right.item else { return false }
        switch (left.content, right.content) {
        case (.row(let left, let isLeftSnapshot), .row(let right, let isRightSnapshot)):
            return isLeftSnapshot == isRightSnapshot && left.elementsEqual(right, by: { $0.hasSameBytes(as: $1) })
        default: return left.content == right.content
        }
    }
}

/// Why a file cannot be read as a recording.
package struct RecordingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset in the file, in bytes, of the frame in which the violation was found.
    package let position: Int
    /// The rule that the file violates, or why the file cannot be read.
    package let rule: String

    package init(position: Int, rule: String) {
        self.position = position
        self.rule = rule
    }

    /// The position and the rule as a sentence without a full stop.
    package var description: String { "byte \(position): \(rule)" }
}
