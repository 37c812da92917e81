#if MetricsSupport
    internal import CoreMetrics
    internal import SessionCore
    internal import Synchronization

    /// Reports the events of a client to swift-metrics; with the trait `MetricsSupport`.
    final class MetricsObserver: ClientObserver, Sendable {
        let observesSubscriptions = true
        let bytesInterval = Duration.seconds(1)

        private let bytes: Counter
        private let updates: Counter
        private let lostUpdates: Counter
        private let sessions: Counter
        private let interruptions: Counter
        private let serverErrors: Counter
        private let outcomes: [String: Counter]
        private let connected: Meter
        /// Whether the client counts as connected. Written by the driver's task alone.
        private let isConnected = Atomic(false)

        init(_ factory: any MetricsFactory) {
            func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
                Counter(label: "lightstreamer_client_\(name)_total", dimensions: dimensions, factory: factory)
            }
            bytes = counter("received_bytes")
            updates = counter("updates")
            lostUpdates = counter("lost_updates")
            sessions = counter("sessions")
            interruptions = counter("interruptions")
            serverErrors = counter("server_errors")
            let names = ["processed", "denied", "discarded", "failed", "aborted"]
            outcomes = Dictionary(uniqueKeysWithValues: names.map { ($0, counter("messages", [("outcome", $0)])) })
            connected = Meter(label: "lightstreamer_client_connected", dimensions: [], factory: factory)
        }

        // A released client reports no last status.
        deinit { if isConnected.load(ordering: .relaxed) { connected.decrement(by: 1.0) } }

        func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
            switch event {
            case .bytesReceived(let count): bytes.increment(by: count)
            case .subscription(_, .update): updates.increment()
            case .subscription(_, .lostUpdates(let count, _)), .subscription(_, .secondLevelLostUpdates(let count, _)):
                lostUpdates.increment(by: count)
            case .property("sessionId"): if client.connectionDetails.sessionId != nil { sessions.increment() }
            case .status(let status): changed(to: status)
            case .serverError: serverErrors.increment()
            case .message(_, _, let outcome): outcomes[outcome.metricName]?.increment()
            case .subscription, .property, .legacy: break
            }
        }

        private func changed(to status: ClientStatus) {
            if status == .disconnectedWillRetry || status == .disconnectedTryingRecovery { interruptions.increment() }
            let isNow = status.isConnected
            guard isConnected.exchange(isNow, ordering: .relaxed) != isNow else { return }
            if isNow { connected.increment(by: 1.0) } else { connected.decrement(by: 1.0) }
        }
    }

    extension MessageOutcome {
        /// The outcome in the dimension of the metric.
        fileprivate var metricName: String {
            switch self {
            case .processed: "processed"
            case .denied: "denied"
            case .discarded: "discarded"
            case .failed: "failed"
            case .aborted: "aborted"
            }
        }
    }
#endif
