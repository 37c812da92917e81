/// Why a control request cannot be granted: a control code and a text.
struct ControlRefusal: Error, Sendable, Hashable {
    /// A code of the control catalogue.
    let code: Int
    /// A text for people.
    let message: String
}
