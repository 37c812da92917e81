internal import DemoServer
internal import Glibc

/// The demo server with a feed of updates that contain the time of their publication: adapter `BENCH`, item `item1`,
/// fields `last_price` and `at`.
///
///     DemoSource --rate EVENTS_PER_SECOND
///
/// The first line of output is the port.
@main
struct DemoSource {
    private static let adapter = "BENCH"

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, arguments[1] == "--rate", let rate = Int(arguments[2]), rate > 0 else {
            print("DemoSource --rate EVENTS_PER_SECOND")
            exit(2)
        }
        var configuration = DemoServerConfiguration()
        configuration.manualFeeds[adapter] = ManualFeedConfiguration(items: ["item1"], fields: ["last_price", "at"])
        let server = DemoServer(configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            print("port \(try await server.boundPort)")
            fflush(nil)
            try await publish(on: server, every: .nanoseconds(1_000_000_000 / rate))
        }
    }

    /// Publishes without end. Overdue updates are skipped.
    private static func publish(on server: DemoServer, every interval: Duration) async throws {
        var next = ContinuousClock.now
        var count = 0
        while true {
            try await Task.sleep(until: next, clock: .continuous)
            let values = ["\(count % 90 + 10).25", "@\(now())"]
            await server.publish(.publish(item: "item1", values: values), to: adapter)
            count += 1
            next = max(next + interval, .now - .milliseconds(100))
        }
    }

    /// The system's monotonic clock, which the load generator reads as well.
    private static func now() -> UInt64 {
        var reading = timespec()
        clock_gettime(CLOCK_MONOTONIC, &reading)
        return UInt64(reading.tv_sec) * 1_000_000_000 + UInt64(reading.tv_nsec)
    }
}
