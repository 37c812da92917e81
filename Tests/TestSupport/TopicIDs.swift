package import Changes

// Tests write ids as literals.

extension ClientID: ExpressibleByStringInterpolation {
    /// An id as a literal.
    package init(stringLiteral value: String) { self.init(value) }
}

extension SubscriptionID: ExpressibleByStringInterpolation {
    /// An id as a literal.
    package init(stringLiteral value: String) { self.init(value) }
}
