package import SessionCore

/// The members of `subscription-error` beside the code and message of the server: the members of the problem that a response
/// for the same refusal has.
package struct RefusalText: Sendable {
    package var type: String
    package var detail: @Sendable (UpstreamRefusal) -> String

    package init(type: String, detail: @escaping @Sendable (UpstreamRefusal) -> String) {
        self.type = type
        self.detail = detail
    }

    /// The text without an explanation of codes.
    static let plain = RefusalText(type: "about:blank") { "The server responded with \($0.code): \($0.message)." }
}
