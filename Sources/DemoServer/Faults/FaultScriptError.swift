/// What is wrong with a fault script.
package struct FaultScriptError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The effect as it was named.
    package let effect: String
    /// The argument that is missing or wrong; nil if there is no such effect.
    package let argument: String?

    /// A phrase for people.
    package var description: String {
        argument.map { "\(effect): missing or wrong \($0)" } ?? "no such effect: \(effect)"
    }
}
