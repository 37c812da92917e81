/// What the streams of one shard have in common. Used on the shard's thread.
final class ShardContext {
    /// The figures of the hub.
    let metrics: HubMetrics
    /// From publication to delivery.
    let deliveryLatency: LatencyHistogram
    /// How streams behave.
    let configuration: HubConfiguration
    /// Writes what only one stream needs.
    var encoder: EventEncoder
    /// Memory for whoever merges channels.
    var turns = MergeTurns()

    /// The context of a hub's shard.
    init(metrics: HubMetrics, configuration: HubConfiguration, epoch: String) {
        self.metrics = metrics
        self.configuration = configuration
        deliveryLatency = metrics.deliveryLatency
        encoder = EventEncoder(epoch: epoch)
    }
}
