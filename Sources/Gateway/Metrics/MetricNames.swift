/// One family of figures: its name, its kind, what its labels are called, and what it tells.
package struct Metric: Sendable, Hashable {
    /// The kinds of the Prometheus text format.
    package enum Kind: String, Sendable {
        /// Only grows, until the process ends.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts measurements in buckets.
        case histogram
    }

    /// The name; units and `_total` are part of it.
    package let name: String
    /// The kind.
    package let kind: Kind
    /// The names of its labels, in the order of their values.
    package let labels: [String]
    /// What it tells, in one sentence.
    package let help: String

    init(_ kind: Kind, _ name: String, labels: [String] = [], _ help: String) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.help = help
    }
}

/// The table of all figures that `GET /metrics` tells. What is not in it cannot be written: `MetricsText` takes its
/// entries only.
package enum MetricNames {
    /// The beginning of every name that is the gateway's own.
    static let prefix = "lightstreamer_gateway_"

    // MARK: - Front end

    static let connections = Metric(.gauge, prefix + "connections", "Connections of HTTP clients that are open.")
    static let connectionsAccepted = Metric(
        .counter,
        prefix + "connections_accepted_total",
        "Connections that were accepted."
    )
    static let connectionsRefused = Metric(
        .counter,
        prefix + "connections_refused_total",
        "Connections that were turned away for a limit."
    )
    static let requests = Metric(
        .counter,
        prefix + "http_requests_total",
        labels: ["route", "method", "status"],
        "Requests that were answered, by operation, method and status."
    )
    static let requestSeconds = Metric(
        .histogram,
        prefix + "http_request_duration_seconds",
        labels: ["route"],
        "Time from a request to its answer, or to the head of its stream; waits that Prefer asks for included."
    )
    static let problems = Metric(
        .counter,
        prefix + "http_problems_total",
        labels: ["code"],
        "Answers that were problems, by their code."
    )

    // MARK: - Streams

    static let streams = Metric(.gauge, prefix + "streams", "Streams that are open.")
    static let streamsBlocked = Metric(
        .gauge,
        prefix + "streams_blocked",
        "Streams whose client does not take its bytes at the moment."
    )
    static let streamBytes = Metric(.counter, prefix + "stream_sent_bytes_total", "Bytes written to streams.")
    static let published = Metric(
        .counter,
        prefix + "events_published_total",
        "Events that clients and subscriptions had to tell."
    )
    static let delivered = Metric(.counter, prefix + "events_delivered_total", "Events written to streams.")
    static let conflated = Metric(
        .counter,
        prefix + "events_conflated_total",
        "Updates that went into a newer one, for readers that were behind."
    )
    static let dropped = Metric(
        .counter,
        prefix + "events_dropped_total",
        "Updates lost from full windows; their streams were told."
    )
    static let slowReaders = Metric(
        .counter,
        prefix + "streams_slow_reader_total",
        "Streams that were closed because their reader was too slow."
    )
    static let queueSeconds = Metric(
        .histogram,
        prefix + "event_queue_seconds",
        "Time from publication until the loop of a stream took notice."
    )
    static let deliverySeconds = Metric(
        .histogram,
        prefix + "event_delivery_seconds",
        "Time from publication until a stream's writer had the bytes."
    )

    // MARK: - Upstream

    static let clients = Metric(
        .gauge,
        prefix + "upstream_clients",
        labels: ["upstream", "kind", "status"],
        "Clients by their upstream, kind (pooled or dedicated) and status."
    )
    static let upstreamUp = Metric(
        .gauge,
        prefix + "upstream_up",
        labels: ["upstream"],
        "1 while a client of the upstream is connected, 0 while there are clients and none is, absent without clients."
    )
    static let sessions = Metric(
        .gauge,
        prefix + "pool_sessions",
        labels: ["upstream"],
        "Pooled sessions that are open."
    )
    static let poolSubscriptions = Metric(
        .gauge,
        prefix + "pool_subscriptions",
        labels: ["upstream"],
        "Subscriptions that pooled sessions carry, lingering ones included."
    )
    static let poolItems = Metric(
        .gauge,
        prefix + "pool_items",
        labels: ["upstream"],
        "Items of those, a group counted as one."
    )
    static let subscriptions = Metric(
        .gauge,
        prefix + "subscriptions",
        labels: ["kind"],
        "Subscription resources, by how they came about: posted, or joined by streams."
    )
    static let sessionsOpened = Metric(
        .counter,
        prefix + "upstream_sessions_opened_total",
        labels: ["upstream"],
        "Sessions that servers opened."
    )
    static let reconnects = Metric(
        .counter,
        prefix + "upstream_reconnects_total",
        labels: ["upstream"],
        "How often a client lost its connection and went on by itself."
    )
    static let updates = Metric(
        .counter,
        prefix + "upstream_updates_total",
        labels: ["upstream"],
        "Updates that servers sent."
    )
    static let messages = Metric(
        .counter,
        prefix + "upstream_messages_total",
        labels: ["upstream"],
        "Messages that were handed to clients."
    )
    static let serverErrors = Metric(
        .counter,
        prefix + "upstream_server_errors_total",
        labels: ["upstream", "code"],
        "Sessions that servers refused or closed, by the code that they gave."
    )
    static let subscriptionErrors = Metric(
        .counter,
        prefix + "upstream_subscription_errors_total",
        labels: ["upstream", "code"],
        "Subscriptions that servers refused or removed, by the code that they gave."
    )

    // MARK: - Process

    static let up = Metric(.gauge, prefix + "build_info", labels: ["version"], "Always 1; the label tells the version.")
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

    /// All figures, in the order in which they are told.
    package static let all: [Metric] = frontEnd + streaming + upstream + process

    private static let frontEnd = [
        connections, connectionsAccepted, connectionsRefused, requests, requestSeconds, problems,
    ]
    private static let streaming = [
        streams, streamsBlocked, streamBytes, published, delivered, conflated, dropped, slowReaders, queueSeconds,
        deliverySeconds,
    ]
    private static let upstream = [
        clients, upstreamUp, sessions, poolSubscriptions, poolItems, subscriptions, sessionsOpened, reconnects, updates,
        messages, serverErrors, subscriptionErrors,
    ]
    private static let process = [up, cpu, resident, virtual, openFiles, maxFiles, started]

    /// The documentation of all figures, as a Markdown table.
    package static var table: String {
        var lines = ["| name | kind | labels | meaning |", "|---|---|---|---|"]
        for metric in all {
            let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
            lines.append("| `\(metric.name)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
