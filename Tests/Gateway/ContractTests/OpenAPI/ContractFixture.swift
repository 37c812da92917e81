import Logging

@testable import Gateway

/// The operations of a gateway that is never started.
enum ContractFixture {
    static func operations() -> [Operation] {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return OperationTable.operations(Gateway(configuration: GatewayConfiguration(), logger: logger).host.services)
    }
}
