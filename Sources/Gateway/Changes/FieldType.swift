/// The type of the values of a field.
package enum FieldType: String, Sendable, CaseIterable {
    case string
    case number
    case integer
    /// `true` or `false`; the server may also send 1 or 0.
    case boolean
    /// Milliseconds since 1970.
    case timestampMilliseconds = "timestamp-ms"
    /// Seconds since 1970.
    case timestampSeconds = "timestamp-s"
    case json
}

/// The types of the fields of subscriptions, in the order of the fields.
package typealias FieldTypes = [SubscriptionID: [FieldType]]
