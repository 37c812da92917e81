internal import EventHub
internal import GatewayStreaming
internal import LightstreamerClient
internal import MicroHTTPD
internal import SessionCore
internal import SessionPool

struct MetricsReport: Sendable {
    let requests: RequestMetrics
    let pool: SessionPool
    let hub: EventHub
    let streams: StreamRegistry
    let daemon: @Sendable () -> DaemonFigures
    var messages: @Sendable () -> MemoryUse = { MemoryUse() }
    /// Has the figures of all gateways that behave as one.
    let coordination: any Coordination
    /// The time since the JWK set was loaded, and the number of its usable keys; nil: it was not.
    var keySet: @Sendable () -> (age: Duration, keys: Int)? = { nil }
    /// Whether the last reload has put its configuration in force.
    var isLatest: @Sendable () -> Bool = { true }

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
        text.write(MetricNames.lastReload, isLatest() ? 1 : 0)
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
        text.write(MetricNames.delivered, metrics.delivered.count)
        text.write(MetricNames.conflated, metrics.conflated.count)
        text.write(MetricNames.dropped, metrics.dropped.count)
        text.write(MetricNames.invalidValues, hub.invalidValues)
        let beginnings = hub.beginnings
        for outcome in ResumeOutcome.allCases {
            text.write(MetricNames.streamResumes, labels: [outcome.rawValue], beginnings[outcome, default: 0])
        }
        text.write(MetricNames.slowReaders, metrics.slowReaders.count)
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
            let (upstream, situation) = (UpstreamMetrics.name(of: client), client.situation)
            let status = situation.status
            counts[[upstream, client.isDedicated ? "dedicated" : "pooled", status.rawValue], default: 0] += 1
            // A client that no request has connected, or that one has disconnected without a refusal, tells nothing about the server.
            if status == .disconnected, situation.refusal == nil { continue }
            isUp[upstream] = isUp[upstream, default: false] || status.isConnected
        }
        // The client of a refused session is gone.
        for name in pool.settings.upstreams.map(\.name) where isUp[name] == nil && pool.refusedClient(of: name) != nil {
            isUp[name] = false
        }
        let sorted = counts.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        text.write(MetricNames.clients, each: sorted.map { ($0.key, $0.value) })
        text.write(MetricNames.upstreamUp, each: isUp.sorted { $0.key < $1.key }.map { ([$0.key], $0.value ? 1 : 0) })
    }

    private func writePool(to text: inout MetricsText) {
        let figures = pool.settings.upstreams.map { ($0.name, pool.figures(of: $0.name)) }
        text.write(MetricNames.sessions, each: figures.map { ([$0], $1.sessions) })
        text.write(MetricNames.poolSubscriptions, each: figures.map { ([$0], $1.subscriptions) })
        text.write(MetricNames.poolItems, each: figures.map { ([$0], $1.items) })
        let values = pool.settings.upstreamValues.filter { !$0.name.isEmpty }
        text.write(MetricNames.valueBytes, each: values.map { ([$0], $1.used) })
        text.write(MetricNames.valueLimit, each: values.filter { $1.limit != .max }.map { ([$0], $1.limit) })
        let resources = pool.resourceCounts
        text.write(MetricNames.subscriptions, labels: ["posted"], resources.posted)
        text.write(MetricNames.subscriptions, labels: ["joined"], resources.joined)
    }

    private func writeUpstreamCounters(to text: inout MetricsText) {
        let upstreams = pool.upstreamMetrics.totals
        let figures: [(Metric, (UpstreamMetrics.UpstreamCounters) -> UInt64)] = [
            (MetricNames.sessionsOpened, { $0.sessions }), (MetricNames.reconnects, { $0.reconnects }),
            (MetricNames.updates, { $0.updates }), (MetricNames.messages, { $0.messages }),
        ]
        for (metric, figure) in figures { text.write(metric, each: upstreams.map { ([$0], figure($1)) }) }
        let errors = pool.upstreamMetrics.errors
        for (metric, counts) in [
            (MetricNames.connectionFailures, pool.upstreamMetrics.connectionFailures),
            (MetricNames.serverErrors, errors.sessions), (MetricNames.subscriptionErrors, errors.subscriptions),
        ] {
            let sorted = counts.sorted { ($0.key.upstream, $0.key.code) < ($1.key.upstream, $1.key.code) }
            text.write(metric, each: sorted.map { ([$0.key.upstream, $0.key.code], $0.value) })
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
