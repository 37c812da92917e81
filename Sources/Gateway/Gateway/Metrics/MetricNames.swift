/// The description of one metric: name, kind, labels and meaning.
package struct Metric: Sendable, Hashable {
    /// The kinds of the Prometheus text format.
    package enum Kind: String, Sendable {
        /// Only increases while the process runs.
        case counter
        /// Increases and decreases.
        case gauge
        /// Counts measurements in buckets.
        case histogram
    }

    /// The name; units and `_total` are part of it.
    package let name: String
    package let kind: Kind
    /// The names of its labels, in the order of their values.
    package let labels: [String]
    /// The meaning, in one sentence.
    package let help: String

    init(_ kind: Kind, _ name: String, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

/// The table of all metrics of `GET /metrics`. `MetricsText` accepts only its entries.
package enum MetricNames {
    /// The beginning of the names of the gateway's own metrics.
    static let prefix = "lightstreamer_gateway_"

    static func counter(_ name: String, labels: [String] = [], _ help: String) -> Metric {
        Metric(.counter, prefix + name, labels: labels, help)
    }

    static func gauge(_ name: String, labels: [String] = [], _ help: String) -> Metric {
        Metric(.gauge, prefix + name, labels: labels, help)
    }

    static func histogram(_ name: String, labels: [String] = [], _ help: String) -> Metric {
        Metric(.histogram, prefix + name, labels: labels, help)
    }

    // MARK: - HTTP server

    static let connections = gauge("connections", "Connections of HTTP clients that are open.")
    static let connectionsAccepted = counter("connections_accepted_total", "Connections that were accepted.")
    static let connectionsRefused = counter(
        "connections_refused_total",
        "Connections that were refused because of a limit."
    )
    static let requests = counter(
        "http_requests_total",
        labels: ["route", "method", "status"],
        "Responses, by operation, method and status."
    )
    static let requestSeconds = histogram(
        "http_request_duration_seconds",
        labels: ["route"],
        "Time from a request to its response, or to the head of its stream, including waits requested by Prefer."
    )
    static let problems = counter("http_problems_total", labels: ["code"], "Problem responses, by their code.")

    // MARK: - Streams

    static let streams = gauge("streams", "Streams that are open.")
    static let streamsBlocked = gauge("streams_blocked", "Streams whose client does not accept bytes at the moment.")
    static let streamBytes = counter("stream_sent_bytes_total", "Bytes written to streams.")
    static let published = counter("events_published_total", "Events published by clients and subscriptions.")
    static let delivered = counter("events_delivered_total", "Events written to streams.")
    static let conflated = counter(
        "events_conflated_total",
        "Updates merged into a newer one for readers that were behind."
    )
    static let dropped = counter(
        "events_dropped_total",
        "Updates lost from full windows; lost-updates events report them."
    )
    static let invalidValues = counter(
        "events_invalid_values_total",
        "Values of feeds written as text because they are not of the types of their fields, once for each encoding."
    )
    static let streamResumes = counter(
        "stream_resumes_total",
        labels: ["outcome"],
        "Beginnings of streams: fresh, resumed after a last event id, or with a gap; "
            + "the beginning of an epoch is a gap for each open stream."
    )
    static let slowReaders = counter(
        "streams_slow_reader_total",
        "Streams that were closed because their reader was too slow."
    )
    static let queueSeconds = histogram(
        "event_queue_seconds",
        "Time from publication until the writer of a stream noticed the event."
    )
    static let deliverySeconds = histogram(
        "event_delivery_seconds",
        "Time from publication until the writer of a stream had the bytes."
    )

    static let memoryUsed = gauge(
        "memory_used_bytes",
        labels: ["budget"],
        "Memory in use of a budget: streams with their replay windows, responses, request bodies, messages."
    )
    static let memoryLimit = gauge(
        "memory_limit_bytes",
        labels: ["budget"],
        "The limit of a memory budget; absent without a limit."
    )

    // MARK: - Upstream

    static let clients = gauge(
        "upstream_clients",
        labels: ["upstream", "kind", "status"],
        "Clients by their upstream, kind (pooled or dedicated) and status."
    )
    static let upstreamUp = gauge(
        "upstream_up",
        labels: ["upstream"],
        "1 while a client of the upstream is connected, 0 while there are clients and none is, absent without clients."
    )
    static let sessions = gauge("pool_sessions", labels: ["upstream"], "Pooled sessions that are open.")
    static let poolSubscriptions = gauge(
        "pool_subscriptions",
        labels: ["upstream"],
        "Subscriptions on pooled sessions, including those that linger."
    )
    static let poolItems = gauge(
        "pool_items",
        labels: ["upstream"],
        "Items of these subscriptions; a group counts as one."
    )
    static let subscriptions = gauge(
        "subscriptions",
        labels: ["kind"],
        "Subscription resources by origin: posted, or joined by streams."
    )
    static let sessionsOpened = counter("upstream_sessions_opened_total", labels: ["upstream"], "Sessions opened.")
    static let reconnects = counter(
        "upstream_reconnects_total",
        labels: ["upstream"],
        "Reconnections of clients after a lost connection."
    )
    static let updates = counter("upstream_updates_total", labels: ["upstream"], "Updates received from servers.")
    static let valueBytes = gauge(
        "upstream_value_bytes",
        labels: ["upstream"],
        "Memory of the values that subscriptions of the upstream keep."
    )
    static let valueLimit = gauge(
        "upstream_value_limit_bytes",
        labels: ["upstream"],
        "The limit of that memory; absent without a limit."
    )
    static let messages = counter("upstream_messages_total", labels: ["upstream"], "Messages passed to clients.")
    static let connectionFailures = counter(
        "upstream_connection_failures_total",
        labels: ["upstream", "reason"],
        "Connections that failed or were lost, by reason."
    )
    static let serverErrors = counter(
        "upstream_server_errors_total",
        labels: ["upstream", "code"],
        "Sessions that servers refused or closed, by error code."
    )
    static let subscriptionErrors = counter(
        "upstream_subscription_errors_total",
        labels: ["upstream", "code"],
        "Subscriptions that servers refused or removed, by error code."
    )

    // MARK: - Process

    static let up = gauge("build_info", labels: ["version"], "Always 1; the label has the version.")
    static let cpu = Metric(.counter, "process_cpu_seconds_total", "Processor time of the process, user and system.")
    static let resident = Metric(.gauge, "process_resident_memory_bytes", "Memory that the process holds in RAM.")
    static let virtual = Metric(.gauge, "process_virtual_memory_bytes", "Address space of the process.")
    static let openFiles = Metric(.gauge, "process_open_fds", "File descriptors that are open.")
    static let maxFiles = Metric(.gauge, "process_max_fds", "File descriptors that may be open.")
    static let started = Metric(
        .gauge,
        "process_start_time_seconds",
        "When the process started, in seconds since 1970."
    )

    static let keySetAge = gauge(
        "jwks_age_seconds",
        "Time since the JWK set of auth.jwt.jwksURL was loaded, absent before."
    )
    static let keySetKeys = gauge(
        "jwks_keys",
        "Keys of the JWK set of auth.jwt.jwksURL that can be used, absent before it was loaded."
    )

    /// All metrics, in the order of the output.
    package static let all: [Metric] = server + streaming + upstream + cluster + process

    private static let server = [
        connections, connectionsAccepted, connectionsRefused, requests, requestSeconds, problems, keySetAge,
        keySetKeys,
    ]
    private static let streaming = [
        streams, streamsBlocked, streamBytes, published, delivered, conflated, dropped, invalidValues, streamResumes,
        slowReaders, queueSeconds, deliverySeconds, memoryUsed, memoryLimit,
    ]
    private static let upstream = [
        clients, upstreamUp, sessions, poolSubscriptions, poolItems, subscriptions, sessionsOpened, reconnects, updates,
        messages, connectionFailures, serverErrors, subscriptionErrors, valueBytes, valueLimit,
    ]
    private static let process = [up, cpu, resident, virtual, openFiles, maxFiles, started]
}
