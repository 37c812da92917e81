internal import Changes
internal import SessionCore
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import SessionPool

/// The time after which clients and subscriptions that nothing uses end.
@Suite struct IdleResourcesTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    @Test func aDedicatedClientIsNotIdleWhileARequestWaitsForItsStatus() throws {
        let pool = pool { $0.clientIdle = .seconds(5) }
        let client = try pool.createClient(ClientSpecification(target: .upstream("demo")))
        let handle = client.watchers.add { false }
        let waiting = try #require(handle)
        for _ in 0..<3 { pass(4, in: pool) }
        client.watchers.cancel(waiting)
        // A client whose creation has just been answered exists.
        pass(4, in: pool)
        #expect(pool.client(client.id) != nil)
        pass(1, in: pool)
        #expect(pool.client(client.id) == nil)
    }

    @Test func aSubscriptionThatNothingUsesEndsAfterItsTime() throws {
        let pool = pool { $0.subscriptionIdle = .seconds(100) }
        let posted = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        let short = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        short.ttl = .seconds(10)
        let shared = try pool.joinImplicit(Self.key).resource
        try pool.activate(posted)
        #expect(pool.timeLeft(of: posted) == .seconds(100) && pool.timeLeft(of: short) == .seconds(10))
        #expect(pool.timeLeft(of: shared) == nil)
        pass(9.5, in: pool)
        #expect(pool.resources().count == 3)
        pass(1, in: pool)
        #expect(pool.resource(short.id) == nil)
        // A read begins the time again.
        pass(80, in: pool)
        pool.use(posted)
        pass(99, in: pool)
        #expect(pool.timeLeft(of: posted) == .seconds(1))
        pass(2, in: pool)
        #expect(pool.resources().map(\.id) == [shared.id])
        #expect(sink.present.faults.isEmpty)
    }

    @Test func aSubscriptionWithAStreamOrAWaitingRequestStays() throws {
        let pool = pool { $0.subscriptionIdle = .seconds(100) }
        let read = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        let waited = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        let id = read.id
        sink.read.withLock { $0 = [id] }
        let handle = try #require(waited.watchers.add { false })
        for _ in 0..<3 { pass(99, in: pool) }
        #expect(pool.resources().count == 2)
        // The response to the request that waits has the time as well.
        #expect(pool.timeLeft(of: read) == nil && pool.timeLeft(of: waited) == .seconds(1))
        sink.read.withLock { $0 = [] }
        waited.watchers.cancel(handle)
        for _ in 0..<2 { pass(99, in: pool) }
        #expect(pool.resources().isEmpty)
    }

    /// The streams of other processes are asked for, and a request may use the resources meanwhile.
    @Test func whatAStreamOfAnotherProcessUsesStays() throws {
        let pool = pool {
            $0.subscriptionIdle = .seconds(100)
            $0.clientIdle = .seconds(100)
        }
        let client = try pool.createClient(ClientSpecification(target: .upstream("demo")))
        let carried = try pool.createResource(home: .dedicated(client.id), properties: Self.key.properties)
        let read = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        let used = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        sink.elsewhere.withLock { $0 = [.subscription(carried.id): .never, .subscription(read.id): .never] }
        sink.heldAnswers.withLock { $0 = [] }
        pass(100, in: pool)
        pass(1, in: pool)
        let answers = sink.heldAnswers.withLock { $0.take() } ?? []
        #expect(answers.count == 1 && pool.resources().count == 3)
        pool.use(used)
        for answer in answers { answer() }
        #expect(pool.resources().count == 3 && pool.client(client.id) != nil)
        let end = time.moment
        sink.elsewhere.withLock { $0 = [.subscription(carried.id): end, .subscription(read.id): end] }
        pass(99, in: pool)
        #expect(pool.resources().count == 3 && pool.client(client.id) != nil)
        pass(1, in: pool)
        #expect(pool.resources().isEmpty && pool.client(client.id) == nil)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func theTimeOfASubscriptionBeginsAtTheEndOfItsLastStream() throws {
        let pool = pool { $0.subscriptionIdle = .seconds(100) }
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        let id = resource.id
        sink.read.withLock { $0 = [id] }
        pass(90, in: pool)
        let end = time.moment
        sink.read.withLock { $0 = [] }
        sink.ends.withLock { $0 = [id: end] }
        #expect(pool.timeLeft(of: resource) == .seconds(100))
        pass(99, in: pool)
        #expect(pool.timeLeft(of: resource) == .seconds(1))
        pass(1, in: pool)
        #expect(pool.resource(id) == nil)
    }
}
