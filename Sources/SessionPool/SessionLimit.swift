package import LightstreamerClient

/// How many HTTP streaming sessions the clients of this process have open to one server, and what happens beyond that:
/// the two properties of the class reference that all clients share.
package struct SessionLimit: Sendable, Equatable {
    /// How many sessions; 0…6. Default 3.
    package var maxConcurrentSessionsPerServer = 3
    /// What `connect` does beyond them. Default `NONE`.
    package var policy = ConnectionOptions.SessionLimitPolicy.none

    /// The defaults.
    package init() {}

    /// Lets the limit hold for all clients of this process.
    package func apply() {
        ConnectionOptions.maxConcurrentSessionsPerServer = maxConcurrentSessionsPerServer
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = policy
    }
}
