internal import CoreMetrics
internal import LightstreamerClient
internal import Logging
internal import ServiceLifecycle

// The Swift blocks of the page on services, metrics, spans and logs, compiled. `DocumentationTests` compares them line by
// line.

/// The page, *Service*.
func serviceExample(_ reader: any Service, _ logger: Logger) async throws {
    let client = try LightstreamerClient(serverAddress: "https://push.example.com", adapterSet: "QUOTES")
    let group = ServiceGroup(services: [client, reader], gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
}

/// The page, *Metrics*.
func metricsExample() -> ClientConfiguration {
    var configuration = ClientConfiguration()
    configuration.metrics = MetricsSystem.factory
    return configuration
}
