internal import EventHub
internal import GatewayStreaming
internal import LightstreamerClient
internal import MicroHTTPD
internal import SessionCore
internal import SessionPool

/// Collects all metrics.
struct MetricsReport: Sendable {
    /// The counts of requests.
    let requests: RequestMetrics
    /// The upstream side.
    let pool: SessionPool
    let hub: EventHub
    let streams: StreamRegistry
    /// The figures of the HTTP server.
    let daemon: @Sendable () -> DaemonFigures
    var messages: @Sendable () -> MemoryUse = { MemoryUse() }
    /// Has the figures of all gateways that behave as one.
    let coordination: any Coordination
    /// The time since the JWK set was loaded, and the number of its usable keys; nil: it was not.
    var keySet: @Sendable () -> (age: Duration, keys: Int)? = { nil }

    /// The metrics as Prometheus text.
    var text: String {
        var text = MetricsText()
        let figures = daemon()
        text.write(MetricNames.connections, figures.connections)
        text.write(MetricNames.connectionsAccepted, figures.acceptedConnections)
        text.write(MetricNames.connectionsRefused, figures.refusedConnections)
        requests.write(to: &text)
        let keySet = keySet()
        text.open(MetricNames.keySetAge)
        if let keySet { text.write(MetricNames.keySetAge, keySet.age / .seconds(1)) }
        text.open(MetricNames.keySetKeys)
        if let keySet { text.write(MetricNames.keySetKeys, keySet.keys) }
        writeStreams(figures, to: &text)
        MemoryBudgets(hub.memory, figures, messages: messages()).write(to: &text)
        writeClients(to: &text)
        writePool(to: &text)
        writeUpstreamCounters(to: &text)
        coordination.figures?.write(to: &text)
        writeProcess(to: &text)
        return text.text
    }

    private func writeStreams(_ figures: DaemonFigures, to text: inout MetricsText) {
        let metrics = hub.metrics
        text.write(MetricNames.streams, streams.count)
        text.write(MetricNames.streamsBlocked, figures.blockedStreams)
        text.write(MetricNames.streamBytes, figures.streamBytes)
        text.write(MetricNames.published, hub.published)
        text.write(MetricNames.delivered, metrics.delivered)
        text.write(MetricNames.conflated, metrics.conflated)
        text.write(MetricNames.dropped, metrics.dropped)
        text.write(MetricNames.invalidValues, hub.invalidValues)
        let beginnings = hub.beginnings
        for outcome in ResumeOutcome.allCases {
            text.write(MetricNames.streamResumes, labels: [outcome.rawValue], beginnings[outcome, default: 0])
        }
        text.write(MetricNames.slowReaders, metrics.slowReaders)
        for (metric, histogram) in [
            (MetricNames.queueSeconds, metrics.queueLatency), (MetricNames.deliverySeconds, metrics.deliveryLatency),
        ] {
            text.write(metric, bounds: LatencyHistogram.bounds, counts: histogram.counts, sum: histogram.sum)
        }
    }

    private func writeClients(to text: inout MetricsText) {
        var counts: [[String]: Int] = [:]
        var isUp: [String: Bool] = [:]
        for client in pool.clients() {
            let upstream = UpstreamMetrics.name(of: client)
            let status = client.core.status
            counts[[upstream, client.isDedicated ? "dedicated" : "pooled", status.rawValue], default: 0] += 1
            isUp[upstream] = isUp[upstream, default: false] || status.isConnected
        }
        text.open(MetricNames.clients)
        for (labels, count) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            text.write(MetricNames.clients, labels: labels, count)
        }
        text.open(MetricNames.upstreamUp)
        for (upstream, isUp) in isUp.sorted(by: { $0.key < $1.key }) {
            text.write(MetricNames.upstreamUp, labels: [upstream], isUp ? 1 : 0)
        }
    }

    private func writePool(to text: inout MetricsText) {
        let figures = pool.upstreams.map { ($0.name, pool.figures(of: $0.name)) }
        text.open(MetricNames.sessions)
        for (name, figures) in figures { text.write(MetricNames.sessions, labels: [name], figures.sessions) }
        text.open(MetricNames.poolSubscriptions)
        for (name, figures) in figures {
            text.write(MetricNames.poolSubscriptions, labels: [name], figures.subscriptions)
        }
        text.open(MetricNames.poolItems)
        for (name, figures) in figures { text.write(MetricNames.poolItems, labels: [name], figures.items) }
        let values = pool.upstreamValues.filter { !$0.name.isEmpty }
        text.open(MetricNames.valueBytes)
        for (name, values) in values { text.write(MetricNames.valueBytes, labels: [name], values.used) }
        text.open(MetricNames.valueLimit)
        for (name, values) in values where values.limit != .max {
            text.write(MetricNames.valueLimit, labels: [name], values.limit)
        }
        let resources = pool.resourceCounts
        text.write(MetricNames.subscriptions, labels: ["posted"], resources.posted)
        text.write(MetricNames.subscriptions, labels: ["joined"], resources.joined)
    }

    private func writeUpstreamCounters(to text: inout MetricsText) {
        let upstreamMetrics = pool.upstreamMetrics.upstreamMetrics
        let figures: [(Metric, (UpstreamMetrics.UpstreamCounters) -> UInt64)] = [
            (MetricNames.sessionsOpened, { $0.sessions }), (MetricNames.reconnects, { $0.reconnects }),
            (MetricNames.updates, { $0.updates }), (MetricNames.messages, { $0.messages }),
        ]
        for (metric, figure) in figures {
            text.open(metric)
            for (upstream, tally) in upstreamMetrics { text.write(metric, labels: [upstream], figure(tally)) }
        }
        let errors = pool.upstreamMetrics.errors
        for (metric, counts) in [
            (MetricNames.connectionFailures, pool.upstreamMetrics.connectionFailures),
            (MetricNames.serverErrors, errors.sessions), (MetricNames.subscriptionErrors, errors.subscriptions),
        ] {
            text.open(metric)
            for (key, count) in counts.sorted(by: { ($0.key.upstream, $0.key.code) < ($1.key.upstream, $1.key.code) }) {
                text.write(metric, labels: [key.upstream, key.code], count)
            }
        }
    }

    private func writeProcess(to text: inout MetricsText) {
        let process = ProcessFigures()
        text.write(MetricNames.up, labels: [GatewayVersion.text], 1)
        text.write(MetricNames.cpu, process.cpuSeconds)
        text.write(MetricNames.resident, process.residentBytes)
        text.write(MetricNames.virtual, process.virtualBytes)
        text.write(MetricNames.openFiles, process.openFiles)
        text.write(MetricNames.maxFiles, process.maxFiles)
        text.write(MetricNames.started, ProcessFigures.startedAt)
    }
}
