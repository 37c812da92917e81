/// The metrics of a cluster.
extension MetricNames {
    package static let clusterConnected = gauge(
        "cluster_connected",
        "1 while there is a connection to the engine of the cluster."
    )
    package static let clusterDegraded = gauge(
        "cluster_degraded",
        "1 while the gateway serves its own readers alone, because the engine of the cluster is away."
    )
    package static let clusterServing = gauge(
        "cluster_serving",
        "1 while the gateway belongs to the cluster and opens streams."
    )
    package static let clusterMembers = gauge("cluster_members", "Members of the cluster.")
    package static let clusterOwned = gauge(
        "cluster_subscriptions_owned",
        "Shared subscriptions that this member holds upstream for all members."
    )
    package static let clusterPosition = gauge("cluster_position", "The position up to which the log is applied.")
    package static let clusterLag = gauge("cluster_lag_frames", "Frames that are in the log and not applied yet.")
    package static let clusterLagSeconds = gauge(
        "cluster_lag_seconds",
        "For how long frames of the log have been missing."
    )
    package static let clusterOutbox = gauge("cluster_outbox_bytes", "Bytes of records that wait for the engine.")
    package static let clusterDiffers = gauge(
        "cluster_configuration_differs",
        "Members whose upstreams or access rules differ from those of this one."
    )
    package static let clusterFrames = counter(
        "cluster_frames_total",
        labels: ["direction"],
        "Frames that were appended to the log, appended again, and applied from it."
    )
    package static let clusterFramesIgnored = counter(
        "cluster_frames_ignored_total",
        labels: ["verdict"],
        "Frames of the log that were ignored: repeated ones, and stale ones of removed members or earlier epochs."
    )
    package static let clusterFramesFetched = counter(
        "cluster_frames_fetched_total",
        "Frames that the engine did not deliver and that were fetched from the log, also to join."
    )
    package static let clusterFrameEvents = histogram(
        "cluster_frame_events",
        "Changes of clients and subscriptions, most of them events, in each frame that was applied."
    )
    package static let clusterAppendSeconds = histogram(
        "cluster_append_seconds",
        "Time from the first sending of a frame of this member until it was read from the log."
    )
    package static let clusterEpochs = counter(
        "cluster_epochs_total",
        labels: ["cause"],
        "Epochs that started in the log, or that this member entered with a loaded state; each is a gap on all streams."
    )
    package static let clusterDivergences = counter(
        "cluster_log_divergences_total",
        "Proofs that the engine has shown different logs to members, or to this one; each starts an epoch."
    )
    package static let clusterTakeovers = counter(
        "cluster_takeovers_total",
        "Shared subscriptions that this member took over from one that was removed."
    )
    package static let clusterRemovals = counter(
        "cluster_removed_members_total",
        labels: ["cause"],
        "Members that left by themselves, or were removed because they were silent, this one included."
    )
    package static let clusterFailoverSeconds = histogram(
        "cluster_failover_seconds",
        "Time from the last heartbeat of a silent member until its subscriptions had new owners here; "
            + "members that leave by themselves are not measured."
    )
    package static let clusterAdoptions = counter(
        "cluster_adoptions_total",
        labels: ["outcome"],
        "Upstream sessions of removed members that this member resumed, that the server refused to continue, "
            + "that were abandoned before, or whose adoption failed."
    )
    package static let clusterCalls = counter(
        "cluster_calls_total",
        labels: ["outcome"],
        "Calls with requests for other members: answered, timed-out, unreachable, failed, or abandoned by the client."
    )
    package static let clusterCredits = gauge(
        "cluster_credits",
        labels: ["upstream", "kind"],
        "The sessions, subscriptions and items that this member may have open on an upstream."
    )

    /// Only gateways with `cluster.engine` have these.
    package static let cluster = [
        clusterConnected, clusterDegraded, clusterServing, clusterMembers, clusterOwned, clusterPosition, clusterLag,
        clusterLagSeconds, clusterOutbox, clusterDiffers, clusterFrames, clusterFramesIgnored, clusterFramesFetched,
        clusterFrameEvents, clusterAppendSeconds, clusterEpochs, clusterDivergences, clusterTakeovers, clusterRemovals,
        clusterFailoverSeconds, clusterAdoptions, clusterCalls, clusterCredits,
    ]
}
