#if ServiceLifecycleSupport
    internal import Primitives
    public import ServiceLifecycle

    /// The life of a client in a `ServiceGroup`; with the trait `ServiceLifecycleSupport`.
    extension LightstreamerClient: Service {
        /// Connects, and lasts until a graceful shutdown, the cancellation of the task, or `shutdown()`; the client is shut down
        /// then. `disconnect()` does not end the service.
        ///
        /// - Throws: `SessionRefused` if the server refuses a session or closes it for good; `ClientError` as `connect()`.
        public func run() async throws {
            let watch = ServiceWatch()
            core.perform { $0.add(watch) }
            defer { core.perform { $0.remove(watch) } }
            try core.connectIfDisconnected(while: { !watch.wait.isOver }, orElse: { watch.wait.end(.failure($0)) })
            let outcome = await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in
                    await driving.value
                    watch.wait.end(.success(()))
                }
                let outcome = await Result.of { try await cancelWhenGracefulShutdown { try await watch.wait.value } }
                core.beginShutdown()
                return outcome
            }
            if case .failure(let refusal as SessionRefused) = outcome { throw refusal }
            if case .failure(let error as ClientError) = outcome { throw error }
        }
    }

    /// Waits for a refusal of the server.
    private final class ServiceWatch: ClientObserver, Sendable {
        let wait = Awaited<Void>()

        func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
            guard case .serverError(let code, let message) = event else { return }
            wait.end(.failure(SessionRefused(code: code, message: message)))
        }
    }

    extension Result where Failure == any Error {
        fileprivate static func of(_ call: () async throws -> Success) async -> Self {
            do { return .success(try await call()) } catch { return .failure(error) }
        }
    }
#endif
