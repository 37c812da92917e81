/// Names what events can be published about: a client, or a subscription resource.
package enum TopicID: Hashable, Sendable {
    /// A client, by its id.
    case client(String)
    /// A subscription resource, by its id.
    case subscription(String)
}
