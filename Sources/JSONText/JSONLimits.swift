/// What a parser accepts.
package struct JSONLimits: Sendable, Hashable {
    /// The deepest nesting of arrays and objects; a plain value has depth 0.
    package var maxDepth: Int
    /// The greatest number of bytes; nil: any.
    package var maxBytes: Int?
    /// Whether two members of one object may have the same name. If they may, both are kept and the last one counts.
    package var allowsDuplicateNames: Bool

    /// Limits; by default depth 128, any length, no duplicate names.
    package init(maxDepth: Int = 128, maxBytes: Int? = nil, allowsDuplicateNames: Bool = false) {
        self.maxDepth = maxDepth
        self.maxBytes = maxBytes
        self.allowsDuplicateNames = allowsDuplicateNames
    }
}
