/// Why the hub refuses a call.
package enum HubError: Error, Equatable, Sendable {
    /// No such client or subscription.
    case unknownSource(StreamSource)
    /// No such stream, or it has ended.
    case unknownStream(String)
}
