/// The connection to the engine, and the limits of its log.
package struct NATSConfiguration: Sendable, Equatable {
    /// Addresses of the servers: `nats://` or `tls://`, host and port.
    package var servers: [String]
    /// The cluster's name, the prefix of the names of its log and subjects. Letters, digits, `-` and `_`.
    package var name: String
    /// A file with a user's JWT and seed, as `nsc` writes it; nil: none.
    package var credentialsFile: String?
    /// The user's name and password; nil: none.
    package var user: String?
    package var password: String?
    /// PEM files: the authorities that are trusted, and the certificate and key of this client; nil: none.
    package var authoritiesFile: String?
    package var certificateFile: String?
    package var keyFile: String?
    /// How long frames are kept.
    package var window = Duration.seconds(60)
    /// How many bytes of frames are kept.
    package var windowBytes = 1 << 30
    /// The number of servers of the engine that store the log.
    package var copies = 1

    /// A configuration without credentials.
    package init(servers: [String], name: String) {
        self.servers = servers
        self.name = name
    }

    /// The name of the log's stream, and the subjects that members use.
    var stream: String { "\(name)_LOG" }
    var appends: String { "\(name).in.frames" }
    var frames: String { "\(name).out.frames" }
    var broadcasts: String { "\(name).beat" }
    var groupRequests: String { "\(name).ask" }
    func calls(of process: UInt64) -> String { "\(name).call.\(String(process, radix: 16))" }

    /// The stream's configuration as JetStream's API takes it. Stored frames are republished to plain subscriptions:
    /// one message for each member, without a consumer.
    var streamJSON: String {
        let age = window.components.seconds * 1_000_000_000
        return """
            {"name":"\(stream)","subjects":["\(name).in.>"],"retention":"limits","storage":"file","discard":"old",\
            "max_consumers":-1,"max_msgs":-1,"max_bytes":\(windowBytes),"max_age":\(age),\
            "num_replicas":\(copies),"allow_direct":true,\
            "republish":{"src":"\(name).in.>","dest":"\(name).out.>"}}
            """
    }
}
