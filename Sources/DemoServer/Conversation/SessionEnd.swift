/// Why a session was closed: the arguments of `END`.
package struct SessionEnd: Sendable, Hashable {
    /// A code of the session catalogue.
    package var code: Int
    /// A text for people.
    package var message: String

    /// Puts the arguments together.
    package init(code: Int, message: String) {
        self.code = code
        self.message = message
    }
}
