internal import Gateway
internal import GatewayCluster
internal import LightstreamerClient
internal import Primitives
internal import SessionCore
internal import SessionPool

/// Connects to the upstreams and the engine of a configuration, and subscribes to each of its feeds once.
struct ConnectionCheck {
    /// The longest time to wait for each connection and subscription.
    private static let timeout = Duration.seconds(10)

    let configuration: GatewayConfiguration

    /// Prints a line for each upstream, feed and the engine; returns whether all of them responded.
    func run() async -> Bool {
        var isGood = true
        for upstream in configuration.pool.upstreams {
            if await !check(upstream) { isGood = false }
        }
        if await !checkEngine() { isGood = false }
        return isGood
    }

    private func checkEngine() async -> Bool {
        do {
            guard let warnings = try await Clustering.engineWarnings(configuration) else { return true }
            print("engine: connected")
            for warning in warnings { StandardError.write("warning: \(warning)\n") }
            return true
        } catch {
            print("engine: \(error)")
            return false
        }
    }

    private func check(_ upstream: UpstreamConfiguration) async -> Bool {
        let client: LightstreamerClient
        let probe = ConnectionProbe()
        do throws(ClientError) {
            client = try make(upstream)
            client.addDelegate(probe)
            try client.connect()
        } catch {
            print("upstream \(upstream.name): \(error)")
            return false
        }
        let outcome = await probe.outcome(within: Self.timeout)
        var isGood = false
        switch outcome {
        case .connected(let status):
            print("upstream \(upstream.name): \(status.rawValue)")
            isGood = await checkFeeds(of: upstream, client)
        case .refused(let refusal) where refusal.code != UpstreamRefusal.badDataCode:
            let sentence = TroubleText.sentence(refusal, upstream: upstream.name)
            print("upstream \(upstream.name): \(sentence)")
        case .refused: print("upstream \(upstream.name): \(sentence(.notLightstreamer, of: upstream, client))")
        case .failed:
            let sentence =
                client.lastRefusal.map { TroubleText.sentence($0, upstream: upstream.name) }
                ?? sentence(client.lastFailure ?? .timeout, of: upstream, client)
            print("upstream \(upstream.name): \(sentence)")
        case .subscribed: break
        }
        await client.shutdown()
        return isGood
    }

    private func sentence(
        _ kind: FailureKind,
        of upstream: UpstreamConfiguration,
        _ client: LightstreamerClient
    ) -> String {
        let controlLink = client.attemptedControlLink
        return TroubleText.sentence(
            kind,
            httpStatus: client.lastHTTPStatus,
            address: controlLink ?? upstream.serverAddress,
            isControlLink: controlLink != nil,
            settings: "upstreams.\(upstream.name)"
        )
    }

    private func make(_ upstream: UpstreamConfiguration) throws(ClientError) -> LightstreamerClient {
        var settings = ClientConfiguration()
        upstream.apply(to: &settings)
        let client = try LightstreamerClient(
            serverAddress: upstream.serverAddress,
            adapterSet: upstream.adapterSet,
            configuration: settings
        )
        client.connectionDetails.setUser(upstream.user)
        client.connectionDetails.setPassword(upstream.password)
        try upstream.apply(to: client)
        return client
    }

    private func checkFeeds(of upstream: UpstreamConfiguration, _ client: LightstreamerClient) async -> Bool {
        var isGood = true
        let standard = configuration.pool.defaultUpstream?.name
        for feed in configuration.feeds where (feed.upstream ?? standard) == upstream.name {
            guard let properties = feed.probe else {
                print("feed \(feed.name): any items, not checked")
                continue
            }
            let probe = ConnectionProbe()
            do throws(ClientError) {
                let subscription = try Subscription(properties: properties)
                subscription.addDelegate(probe)
                try client.subscribe(subscription)
                let outcome = await probe.outcome(within: Self.timeout)
                if !report(outcome, of: feed) { isGood = false }
                try client.unsubscribe(subscription)
            } catch {
                print("feed \(feed.name): \(error)")
                isGood = false
            }
        }
        return isGood
    }

    private func report(_ outcome: ConnectionProbe.Outcome, of feed: FeedConfiguration) -> Bool {
        switch outcome {
        case .subscribed:
            print("feed \(feed.name): subscribed")
            return true
        case .refused(let refusal):
            print("feed \(feed.name): \(WatchFailure.subscriptionError(refusal.code, refusal.message).sentence)")
        case .failed, .connected: print("feed \(feed.name): the server has not responded to the subscription.")
        }
        return false
    }

    private func print(_ line: String) { StandardOutput.write(line.printable + "\n") }
}

/// Waits for the first outcome of a connection or of a subscription.
private final class ConnectionProbe: ClientDelegate, SubscriptionDelegate {
    /// The first result of the connection or subscription.
    enum Outcome: Sendable {
        case connected(ClientStatus)
        case subscribed
        case refused(UpstreamRefusal)
        case failed
    }

    private let outcomes = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingOldest(1))

    /// The first outcome; `failed` after a time without one.
    func outcome(within time: Duration) async -> Outcome {
        let (stream, source) = outcomes
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                if (try? await Task.sleep(for: time)) != nil { source.yield(.failed) }
            }
            defer { group.cancelAll() }
            for await outcome in stream { return outcome }
            return .failed
        }
    }

    func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
        switch status {
        case .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling, .connectedHTTPPolling:
            outcomes.continuation.yield(.connected(status))
        case .disconnectedWillRetry: outcomes.continuation.yield(.failed)
        default: break
        }
    }

    func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {
        outcomes.continuation.yield(.refused(UpstreamRefusal(code: code, message: message)))
    }

    func subscriptionDidSubscribe(_ subscription: Subscription) { outcomes.continuation.yield(.subscribed) }

    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {
        outcomes.continuation.yield(.refused(UpstreamRefusal(code: code, message: message ?? "")))
    }
}
