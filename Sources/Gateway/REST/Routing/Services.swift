internal import LightstreamerClient
internal import Logging
internal import SessionCore
internal import SessionPool

/// What the operations work on.
struct Services: Sendable {
    /// What the gateway was told, at its start or since.
    let current: CurrentConfiguration
    /// Who may come in.
    let access: AccessControl
    /// The upstream side.
    let pool: SessionPool
    /// The open streams.
    let streams: StreamRegistry
    /// What the streams that REST made hold.
    let streamBook: PreparedStreams
    /// Who watches the time for requests that wait.
    let deadlines: Deadlines
    /// The state of the process, as health tells it.
    let lifetime: Lifetime
    /// The readable API page.
    let docs: DocsPage
    /// The figures as Prometheus text; the room that counts sets it.
    let metrics: @Sendable () -> String
    /// The time.
    let clock: @Sendable () -> Moment
}

extension Services {
    /// What the gateway was told last.
    var configuration: GatewayConfiguration { current.value }

    /// What null restores in the options of a client by address.
    var defaultOptions: ConnectionOptionValues { pool.configuration.edition.defaultOptions }
}
