internal import ArgumentParser
internal import Foundation
internal import LightstreamerClient

/// Connects to a Lightstreamer server, subscribes and prints.
struct ServerWatch {
    let command: WatchCommand
    let address: String

    func run() async throws {
        let client = try LightstreamerClient(serverAddress: address, adapterSet: command.adapterSet)
        client.connectionDetails.setUser(command.user)
        client.connectionDetails.setPassword(ProcessInfo.processInfo.environment["LIGHTSTREAMER_PASSWORD"])
        guard let mode = SubscriptionMode(rawValue: command.mode.uppercased()) else { return }
        let subscription = try Subscription(
            mode: mode,
            items: WatchCommand.list(command.items),
            fields: WatchCommand.list(command.fields)
        )
        try subscription.setDataAdapter(command.dataAdapter)
        let printer = WatchPrinter(limit: command.count)
        client.addDelegate(printer)
        subscription.addDelegate(printer)
        try client.subscribe(subscription)
        try client.connect()
        let failure = await printer.finished()
        await client.shutdown()
        if let failure {
            StandardError.write(failure + "\n")
            throw ExitCode.failure
        }
    }
}

/// Prints events; ends after so many updates, or when the server refuses.
private final class WatchPrinter: ClientDelegate, SubscriptionDelegate {
    private let ends = AsyncStream.makeStream(of: String?.self)
    private let updates: AsyncStream<Void>.Continuation
    private let counting: AsyncStream<Void>
    private let limit: Int?

    init(limit: Int?) {
        self.limit = limit
        (counting, updates) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .unbounded)
    }

    /// Waits for the last update that is wanted (nil) or for the reason why none will come.
    func finished() async -> String? {
        await withTaskGroup(of: String?.self) { group in
            group.addTask {
                for await failure in self.ends.stream { return failure }
                return nil
            }
            group.addTask {
                var seen = 0
                for await _ in self.counting {
                    seen += 1
                    if seen == self.limit { break }
                }
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
        StandardError.write("status \(status.rawValue)\n")
    }

    func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {
        ends.continuation.yield("server error \(code): \(message)")
    }

    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {
        ends.continuation.yield("subscription error \(code): \(message ?? "")")
    }

    func subscription(_ subscription: Subscription, didUpdateItem update: ItemUpdate) {
        var line = update.itemName ?? "item \(update.itemPos)"
        if update.isSnapshot { line += " (snapshot)" }
        let names = update.layout.fieldNames ?? []
        for (index, name) in names.enumerated() where update.changed.contains(index + 1) {
            line += " \(name)=\(update.value(at: index + 1) ?? "null")"
        }
        StandardOutput.write(line + "\n")
        updates.yield()
    }
}
