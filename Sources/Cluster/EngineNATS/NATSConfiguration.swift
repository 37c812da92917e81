internal import CNATS
internal import Glibc
internal import JSONText
internal import Primitives
internal import Replication

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
    /// How many bytes of replies that have not arrived completely are kept.
    package var replyBytes = 1 << 30
    /// The number of servers of the engine that store the log.
    package var copies = 1
    /// How long a reply may take before the call is made again: servers drop it while they elect a leader.
    var replyTime = Duration.seconds(1)
    /// Whether a connection gives an existing log these limits.
    package var changesLog = true

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

    /// The text with which a server refuses a subject, for instance `Permissions Violation for Publish to "g.beat"`. The subjects
    /// of replies and processes, which are others each time, have a common name.
    func refusal(_ text: String) -> String {
        var parts = text.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        let groups = ["_INBOX.", "\(name).call."]
        if parts.count > 1, let group = groups.first(where: { parts[1].hasPrefix($0) }) { parts[1] = group + ">" }
        return parts.joined(separator: "\"")
    }

    /// The stream's configuration as JetStream's API takes it. Stored frames are republished to plain subscriptions:
    /// one message for each member, without a consumer.
    var streamJSON: String {
        """
        {"name":"\(stream)","subjects":["\(name).in.>"],"retention":"limits","storage":"file","discard":"old",\
        "max_consumers":-1,"max_msgs":-1,"max_bytes":\(windowBytes),"max_age":\(window.clampedNanoseconds),\
        "num_replicas":\(copies),"allow_direct":true,\
        "republish":{"src":"\(name).in.>","dest":"\(name).out.>"}}
        """
    }

    /// The present configuration of the stream with the limits of the log, which members read by position; nil if it has them.
    func update(of present: JSONObject) -> String? {
        var changed = present
        changed["max_age"] = .number(JSONNumber(window.clampedNanoseconds))
        changed["max_bytes"] = .number(JSONNumber(windowBytes))
        changed["allow_direct"] = .bool(true)
        if changed == present { return nil }
        // Members do not need this window. A server refuses one that is longer than the age, and chooses a missing one.
        changed["duplicate_window"] = nil
        return JSONValue.object(changed).text
    }
}

extension NATSConfiguration {
    func apply(to options: OpaquePointer?) throws {
        let copies = servers.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var addresses = copies.map { UnsafePointer<CChar>($0) }
        try natsCheck(natsOptions_SetServers(options, &addresses, Int32(addresses.count)), "servers")
        try natsCheck(natsOptions_SetName(options, name), "name")
        try natsCheck(natsOptions_SetAllowReconnect(options, false), "options")
        try natsCheck(natsOptions_SetTimeout(options, 2000), "options")
        // A write that waits for the server holds the library's lock, so that other threads wait as well.
        try natsCheck(natsOptions_SetWriteDeadline(options, 2000), "options")
        try natsCheck(natsOptions_SetPingInterval(options, 1000), "options")
        try natsCheck(natsOptions_SetMaxPingsOut(options, 3), "options")
        // One thread for all subscriptions: a heartbeat that comes back tells that the frames before it have arrived.
        try natsCheck(natsOptions_UseGlobalMessageDelivery(options, true), "options")
        if let user { try natsCheck(natsOptions_SetUserInfo(options, user, password ?? ""), "user") }
        if let file = credentialsFile {
            try natsCheck(natsOptions_SetUserCredentialsFromFiles(options, file, nil), "credentials file")
        }
        if let file = authoritiesFile {
            try natsCheck(natsOptions_LoadCATrustedCertificates(options, file), "cluster.tls.authorities")
        }
        if let certificate = certificateFile, let key = keyFile {
            let subject = "cluster.tls.certificate with cluster.tls.key"
            try natsCheck(natsOptions_LoadCertificatesChain(options, certificate, key), subject)
        }
    }

    /// Why a connection cannot be opened, and the setting to check. `detail` is the library's own text about the status.
    static func cause(of status: natsStatus, _ detail: String) -> String {
        switch status {
        case NATS_NO_SERVER: "nothing accepts connections there. Start NATS, or correct cluster.url."
        case NATS_TIMEOUT: "it does not respond. Check cluster.url and the firewalls on the way."
        case NATS_CONNECTION_AUTH_FAILED:
            "it refuses the credentials. Check cluster.user, cluster.password and cluster.credentialsFile."
        case NATS_SECURE_CONNECTION_REQUIRED: "it requires TLS. Use tls:// in cluster.url."
        case NATS_SECURE_CONNECTION_WANTED: "it does not speak TLS. Use nats:// in cluster.url."
        case NATS_SSL_ERROR:
            "the TLS handshake failed (\(detail)). Check cluster.tls and the certificate of the server."
        // The position of a frame is in its header.
        case NATS_NO_SERVER_SUPPORT: "it sends no headers. Remove no_header_support from its configuration."
        case NATS_PROTOCOL_ERROR where detail.hasSuffix("instead of 'INFO'"):
            "it is no NATS server. Correct cluster.url."
        // A server refuses the client's certificate when the handshake has ended for the client.
        case NATS_PROTOCOL_ERROR, NATS_IO_ERROR, NATS_CONNECTION_CLOSED:
            """
            it ends the connection before the login (\(detail)). If it requires a client certificate, check \
            cluster.tls.certificate and cluster.tls.key; its log has the reason.
            """
        default: "\(detail)."
        }
    }

    /// What the library tells about the last call of this thread, without the place in its source.
    static func detail(of status: natsStatus) -> String {
        var last = NATS_OK
        guard let text = nats_GetLastError(&last), last == status else {
            return String(cString: natsStatus_GetText(status))
        }
        return detail(in: String(cString: text))
    }

    /// The text of an error of the library, as `(conn.c:733): SSL handshake error`, without the place.
    static func detail(in text: String) -> String {
        guard text.hasPrefix("("), let end = text.firstRange(of: "): ") else { return text }
        return String(text[end.upperBound...])
    }
}

/// Throws for any other status than that of success.
func natsCheck(_ status: natsStatus, _ subject: String) throws(EngineError) {
    guard status != NATS_OK else { return }
    throw .refused("\(subject): \(NATSConfiguration.detail(of: status))")
}
