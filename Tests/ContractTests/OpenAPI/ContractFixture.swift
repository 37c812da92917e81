import EventHub
import Logging
import SessionCore
import SessionPool

@testable import Gateway

/// The operations of a gateway that is never started.
enum ContractFixture {
    static func operations() -> [Operation] {
        let configuration = GatewayConfiguration()
        let hub = EventHub(epoch: "e", clock: Moment.monotonic)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let services = Services(
            current: LiveConfiguration(configuration),
            access: AccessControl(AccessConfiguration()),
            pool: SessionPool(configuration: configuration.pool, sink: HubSink(hub: hub), logger: logger),
            streams: StreamRegistry(hub: hub),
            streamResources: StreamResources(),
            timers: TimerQueue(clock: Moment.monotonic),
            process: ProcessState(startedAt: .zero),
            docs: DocsPage(),
            metrics: { "" },
            clock: Moment.monotonic
        )
        return OperationTable.operations(services)
    }
}
