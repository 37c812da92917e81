internal import Dispatch
internal import TLCPTransports
internal import Testing

@testable internal import LightstreamerClient

/// Calls that are cancelled before the client's task has begun to wait for them.
@Suite struct CancelledWaitTests {
    @Test func cancelledCallLeavesNoObserver() async throws {
        let fixture = try ClientFixture { $0.taskExecutor = EventLoops.shared.taskExecutor() }
        let subscription = try Subscription(mode: .merge, items: ["a"], fields: ["x"])
        try fixture.client.subscribe(subscription)
        let gate = DispatchSemaphore(value: 0)
        fixture.client.core.perform { _ in gate.wait() }
        let waiting = Task { try await subscription.activated() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.signal()
        await withCheckedContinuation { continuation in
            fixture.client.core.perform { _ in continuation.resume() }
        }
        #expect(subscription.observers.isEmpty)
    }
}
