internal import Gateway
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// Reads the configuration again at every SIGHUP. One that has mistakes changes nothing.
struct ReloadService: Service {
    let gateway: Gateway
    let logger: Logger
    /// Reads the configuration.
    let configuration: @Sendable () throws -> GatewayConfiguration

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            await reload()
        }
    }

    private func reload() async {
        do {
            let waiting = try await gateway.reload(try configuration())
            logger.notice("configuration reloaded")
            for key in waiting {
                logger.warning("a change takes effect with the next start only", metadata: ["key": "\(key)"])
            }
        } catch let error as ConfigurationError {
            for mistake in error.mistakes {
                logger.error("mistake in the configuration", metadata: ["mistake": "\(mistake)"])
            }
            logger.error("configuration not reloaded, the old one holds")
        } catch {
            logger.error("configuration not reloaded, the old one holds", metadata: ["reason": "\(error)"])
        }
    }
}
