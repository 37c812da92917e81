/// What a shard has to do after it took over what was published.
package struct HubNews {
    /// The streams that have something due of their own, by their tags.
    package internal(set) var due: [Int] = []
    /// What streams get in common; nobody is in two of them, or in one and among those that are due.
    package internal(set) var broadcasts: [Broadcast] = []

    /// Nothing.
    package init() {}

    /// Forgets everything, keeps the memory.
    package mutating func removeAll() {
        due.removeAll(keepingCapacity: true)
        broadcasts.removeAll(keepingCapacity: true)
    }
}
