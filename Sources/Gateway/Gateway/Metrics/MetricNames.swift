/// The description of one metric: name, kind, labels and meaning.
package struct Metric: Sendable, Hashable {
    /// The kinds of the Prometheus text format.
    package enum Kind: String, Sendable {
        /// Only increases while the process runs.
        case counter
        case gauge
        /// Counts measurements in buckets.
        case histogram
    }

    /// The name; units and `_total` are part of it.
    package let name: String
    package let kind: Kind
    /// The names of its labels, in the order of their values.
    package let labels: [String]
    package private(set) var help = ""

    init(_ kind: Kind, _ name: String, labels: [String] = []) {
        self.name = name
        self.kind = kind
        self.labels = labels
    }

    /// The metric with its meaning, a sentence.
    consuming func means(_ help: String) -> Metric {
        self.help = help
        return self
    }
}

/// The table of all metrics of `GET /metrics`. `MetricsText` accepts only its entries.
package enum MetricNames {
    /// The beginning of the names of the gateway's own metrics.
    static let prefix = "lightstreamer_gateway_"

    static func counter(_ name: String, labels: [String] = []) -> Metric {
        Metric(.counter, prefix + name, labels: labels)
    }
    static func gauge(_ name: String, labels: [String] = []) -> Metric { Metric(.gauge, prefix + name, labels: labels) }
    static func histogram(_ name: String, labels: [String] = []) -> Metric {
        Metric(.histogram, prefix + name, labels: labels)
    }

    // MARK: - HTTP server

    static let connections = gauge("connections").means("Connections of HTTP clients that are open.")
    static let connectionsAccepted = counter("connections_accepted_total").means("Connections that were accepted.")
    static let connectionsRefused = counter("connections_refused_total")
        .means("Connections that were refused because of a limit.")
    static let requests = counter("http_requests_total", labels: ["route", "method", "status"])
        .means("Responses, by operation, method and status.")
    static let requestSeconds = histogram("http_request_duration_seconds", labels: ["route"])
        .means(
            "Time from a request to its response, or to the head of its stream, including waits requested by Prefer."
        )
    static let problems = counter("http_problems_total", labels: ["code"]).means("Problem responses, by their code.")

    // MARK: - Streams

    static let streams = gauge("streams").means("Streams that are open.")
    static let streamsBlocked = gauge("streams_blocked")
        .means("Streams whose client does not accept bytes at the moment.")
    static let streamBytes = counter("stream_sent_bytes_total").means("Bytes written to streams.")
    static let published = counter("events_published_total").means("Events published by clients and subscriptions.")
    static let delivered = counter("events_delivered_total").means("Events written to streams.")
    static let conflated = counter("events_conflated_total")
        .means("Updates merged into a newer one for readers that were behind.")
    static let dropped = counter("events_dropped_total")
        .means("Updates lost from full windows; lost-updates events report them.")
    static let invalidValues = counter("events_invalid_values_total")
        .means(
            "Values of feeds written as text because they are not of the types of their fields, once for each encoding."
        )
    static let streamResumes = counter("stream_resumes_total", labels: ["outcome"])
        .means(
            "Beginnings of streams: fresh, resumed after a last event id, or with a gap; "
                + "the beginning of an epoch is a gap for each open stream."
        )
    static let slowReaders = counter("streams_slow_reader_total")
        .means("Streams that were closed because their reader was too slow.")
    static let queueSeconds = histogram("event_queue_seconds")
        .means("Time from publication until the writer of a stream noticed the event.")
    static let deliverySeconds = histogram("event_delivery_seconds")
        .means("Time from publication until the writer of a stream had the bytes.")

    static let memoryUsed = gauge("memory_used_bytes", labels: ["budget"])
        .means("Memory in use of a budget: streams with their replay windows, responses, request bodies, messages.")
    static let memoryLimit = gauge("memory_limit_bytes", labels: ["budget"])
        .means("The limit of a memory budget; absent without a limit.")

    // MARK: - Upstream

    static let clients = gauge("upstream_clients", labels: ["upstream", "kind", "status"])
        .means("Clients by their upstream, kind (pooled or dedicated) and status.")
    static let upstreamUp = gauge("upstream_up", labels: ["upstream"])
        .means(
            "1 while a client of the upstream is connected, 0 while none is and clients connect or were refused, else absent."
        )
    static let sessions = gauge("pool_sessions", labels: ["upstream"]).means("Pooled sessions that are open.")
    static let poolSubscriptions = gauge("pool_subscriptions", labels: ["upstream"])
        .means("Subscriptions on pooled sessions, including those that linger.")
    static let poolItems = gauge("pool_items", labels: ["upstream"])
        .means("Items of these subscriptions; a group counts as one.")
    static let subscriptions = gauge("subscriptions", labels: ["kind"])
        .means("Subscription resources by origin: posted, or joined by streams.")
    static let sessionsOpened = counter("upstream_sessions_opened_total", labels: ["upstream"])
        .means("Sessions opened.")
    static let reconnects = counter("upstream_reconnects_total", labels: ["upstream"])
        .means("Interruptions of clients: lost connections, and attempts to connect that failed.")
    static let updates = counter("upstream_updates_total", labels: ["upstream"])
        .means("Updates received from servers.")
    static let valueBytes = gauge("upstream_value_bytes", labels: ["upstream"])
        .means("Memory of the values that subscriptions of the upstream keep.")
    static let valueLimit = gauge("upstream_value_limit_bytes", labels: ["upstream"])
        .means("The limit of that memory; absent without a limit.")
    static let messages = counter("upstream_messages_total", labels: ["upstream"]).means("Messages passed to clients.")
    static let connectionFailures = counter("upstream_connection_failures_total", labels: ["upstream", "reason"])
        .means("Connections that failed or were lost, by reason.")
    static let serverErrors = counter("upstream_server_errors_total", labels: ["upstream", "code"])
        .means("Sessions that servers refused or closed, by error code.")
    static let subscriptionErrors = counter("upstream_subscription_errors_total", labels: ["upstream", "code"])
        .means("Subscriptions that servers refused or removed, by error code.")

    // MARK: - Process

    static let up = gauge("build_info", labels: ["version"]).means("Always 1; the label has the version.")
    static let cpu = Metric(.counter, "process_cpu_seconds_total")
        .means("Processor time of the process, user and system.")
    static let resident = Metric(.gauge, "process_resident_memory_bytes")
        .means("Memory that the process holds in RAM.")
    static let virtual = Metric(.gauge, "process_virtual_memory_bytes").means("Address space of the process.")
    static let openFiles = Metric(.gauge, "process_open_fds").means("File descriptors that are open.")
    static let maxFiles = Metric(.gauge, "process_max_fds").means("File descriptors that may be open.")
    static let started = Metric(.gauge, "process_start_time_seconds")
        .means("When the process started, in seconds since 1970.")

    static let keySetAge = gauge("jwks_age_seconds")
        .means("Time since the JWK set of auth.jwt.jwksURL was loaded, absent before.")
    static let keySetKeys = gauge("jwks_keys")
        .means("Keys of the JWK set of auth.jwt.jwksURL that can be used, absent before it was loaded.")

    static let lastReload = gauge("last_reload_successful")
        .means("0 after a reload that a mistake in the configuration prevented, until one succeeds, else 1.")

    /// All metrics, in the order of the output.
    package static let all: [Metric] = server + streaming + upstream + cluster + process

    private static let server = [
        connections, connectionsAccepted, connectionsRefused, requests, requestSeconds, problems, keySetAge,
        keySetKeys, lastReload,
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

/// The metrics of a cluster.
extension MetricNames {
    package static let clusterConnected = gauge("cluster_connected")
        .means("1 while there is a connection to the engine of the cluster.")
    package static let clusterDegraded = gauge("cluster_degraded")
        .means("1 while the gateway serves its own readers alone, because the engine of the cluster is away.")
    package static let clusterServing = gauge("cluster_serving")
        .means("1 while the gateway belongs to the cluster and opens streams.")
    package static let clusterMembers = gauge("cluster_members").means("Members of the cluster.")
    package static let clusterOwned = gauge("cluster_subscriptions_owned")
        .means("Shared subscriptions that this member holds upstream for all members.")
    package static let clusterPosition = gauge("cluster_position")
        .means("The position up to which the log is applied.")
    package static let clusterLag = gauge("cluster_lag_frames")
        .means("Frames that are in the log and not applied yet.")
    package static let clusterLagSeconds = gauge("cluster_lag_seconds")
        .means("For how long frames of the log have been missing.")
    package static let clusterOutbox = gauge("cluster_outbox_bytes")
        .means("Bytes of records that wait for the engine.")
    package static let clusterDiffers = gauge("cluster_configuration_differs")
        .means("Members whose upstreams or access rules differ from those of this one.")
    package static let clusterFrames = counter("cluster_frames_total", labels: ["direction"])
        .means("Frames that were appended to the log, appended again, and applied from it.")
    package static let clusterFramesIgnored = counter("cluster_frames_ignored_total", labels: ["verdict"])
        .means(
            "Frames of the log that were ignored: repeated ones, and stale ones of removed members or earlier epochs."
        )
    package static let clusterFramesFetched = counter("cluster_frames_fetched_total")
        .means("Frames that the engine did not deliver and that were fetched from the log, also to join.")
    package static let clusterFrameEvents = histogram("cluster_frame_events")
        .means("Changes of clients and subscriptions, most of them events, in each frame that was applied.")
    package static let clusterAppendSeconds = histogram("cluster_append_seconds")
        .means("Time from the first sending of a frame of this member until it was read from the log.")
    package static let clusterEpochs = counter("cluster_epochs_total", labels: ["cause"])
        .means(
            "Epochs that started in the log, or that this member entered with a loaded state; each is a gap on all streams."
        )
    package static let clusterDivergences = counter("cluster_log_divergences_total")
        .means("Proofs that the engine has shown different logs to members, or to this one; each starts an epoch.")
    package static let clusterTakeovers = counter("cluster_takeovers_total")
        .means("Shared subscriptions that this member took over from one that was removed.")
    package static let clusterRemovals = counter("cluster_removed_members_total", labels: ["cause"])
        .means("Members that left by themselves, or were removed because they were silent, this one included.")
    package static let clusterFailoverSeconds = histogram("cluster_failover_seconds")
        .means(
            "Time from the last heartbeat of a silent member until its subscriptions had new owners here; "
                + "members that leave by themselves are not measured."
        )
    package static let clusterAdoptions = counter("cluster_adoptions_total", labels: ["outcome"])
        .means(
            "Upstream sessions of removed members that this member resumed, that the server refused to continue, "
                + "that were abandoned before, or whose adoption failed."
        )
    package static let clusterCalls = counter("cluster_calls_total", labels: ["outcome"])
        .means(
            "Calls with requests for other members: answered, timed-out, unreachable, failed, or abandoned by the client."
        )
    package static let clusterCredits = gauge("cluster_credits", labels: ["upstream", "kind"])
        .means("The sessions, subscriptions and items that this member may have open on an upstream.")

    /// Only gateways with `cluster.engine` have these.
    package static let cluster = [
        clusterConnected, clusterDegraded, clusterServing, clusterMembers, clusterOwned, clusterPosition, clusterLag,
        clusterLagSeconds, clusterOutbox, clusterDiffers, clusterFrames, clusterFramesIgnored, clusterFramesFetched,
        clusterFrameEvents, clusterAppendSeconds, clusterEpochs, clusterDivergences, clusterTakeovers, clusterRemovals,
        clusterFailoverSeconds, clusterAdoptions, clusterCalls, clusterCredits,
    ]
}
