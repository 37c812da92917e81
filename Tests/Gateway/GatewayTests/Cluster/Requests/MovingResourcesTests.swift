import Changes
import Foundation
import MicroHTTPD
import Synchronization
import Testing

@testable import Gateway
@testable import GatewayCluster

/// Requests that look up a resource while the resource moves, or before the member knows the resource.
@Suite(.timeLimit(.minutes(2))) struct MovingResourcesTests {
    /// The resource leaves the member between the decision that the member has the resource and its look-up. The log would keep a
    /// response 404 for the repetitions of a request with a key.
    @Test(arguments: [("GET", "getSubscription", "", 200), ("POST", "unsubscribe", "/unsubscribe", 202)])
    func aRequestWhoseResourceMovesBeforeItIsLookedUpIsPerformedByTheNextOwner(
        method: String,
        name: String,
        action: String,
        status: Int
    ) async throws {
        try await ClusterFixture.run { fixture in
            let (owner, heir) = (fixture.members[0], fixture.members[1])
            let id = await owner.makeSubscription()
            await fixture.settle()
            let real = try #require(owner.host.router.operation(named: name))
            let path = "/v1/subscriptions/{id}\(action)"
            let operation = Operation(real.method, path, "x", .open, [status], on: .owner) { call in
                .later {
                    try await ConfirmationTests.replace(owner, by: heir, fixture.engine)
                    return try await real.handler(call).last
                }
            }
            let key = [HTTPField("Idempotency-Key", "k")]
            let request = HTTPRequest(method, path.replacing("{id}", with: id), as: AccessFixture.admin, key)
            var call = Call(record: CallRecord(request, requestID: "r", since: .zero))
            call.parameters = PathParameters(names: ["id"], values: [id])
            call.caller.rights = .all
            let routing = ClusterRouting(cluster: owner.node, services: owner.services)
            let response = try await call.response { try await routing.perform($0, operation, onOwnerOf: id) }
            #expect(response.status == status)
        }
    }

    /// Its caller would not see the resource: the next owner knows its properties before it knows who made it.
    @Test func aResourceThatIsBeingRecreatedIsNotLookedUp() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, heir) = (fixture.members[0], fixture.members[1])
            let id = await owner.makeSubscription(as: AccessFixture.alice)
            await fixture.settle()
            let isRecreated = Mutex<[Bool]>([])
            heir.services.access.owners.usage.observe { id, identity, items in
                let isIncomplete = heir.node.shared.withLock { $0.recreated.contains(id) }
                isRecreated.withLock { $0.append(isIncomplete) }
                heir.node.made(.subscriptionUsed(id, identity: identity, items: items))
            }
            try await ConfirmationTests.replace(owner, by: heir, fixture.engine)
            let path = "/v1/subscriptions/\(id)"
            #expect(await heir.perform("GET", path, as: AccessFixture.alice).status == 200)
            #expect(isRecreated.withLock { $0 } == [true] && heir.node.has(id))
            heir.node.shared.withLock { _ = $0.recreated.insert(id) }
            #expect(!heir.node.has(id))
        }
    }

    /// As one that was on its way when the owner of the client was removed.
    @Test func aForwardedRequestForTheSubscriptionOfAClientThatHasMovedIsMisdirected() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, heir) = (fixture.members[0], fixture.members[1])
            let made = await owner.perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let client = try #require(made.json["id"]?.string)
            await fixture.settle()
            try await ConfirmationTests.replace(owner, by: heir, fixture.engine)
            let body = #"{"client":"\#(client)","mode":"MERGE","items":["a"],"fields":["f"],"active":false}"#
            let http = HTTPRequest("POST", "/v1/subscriptions", as: nil, [], body)
            let request = ForwardedRequest(http: http, body: http.body, requestID: "r", caller: Caller())
            #expect(await owner.host.serve([request], for: owner.node).map(\.status) == [Response.misdirected])
            #expect(await owner.perform("POST", "/v1/subscriptions", body).status == 201)
        }
    }

    /// The owner of the stream has not read from the log that another member has created the source.
    @Test func aNewSourceThatTheOwnerOfAStreamDoesNotKnowYetIsLookedForInTheLog() async throws {
        try await ClusterFixture.run { fixture in
            let (creator, late) = (fixture.members[0], fixture.members[1])
            let opened = late.start("GET", "/v1/stream?subscription=\(await creator.makeSubscription())")
            #expect(await opened.outcome.isStream)
            let stream = try #require(opened.stream)
            await fixture.settle()
            fixture.engine.holdFrames(for: late.node.process)
            let id = await creator.makeSubscription()
            let changed = late.start("PATCH", "/v1/streams/\(stream.id)", #"{"add":[{"subscription":"\#(id)"}]}"#)
            while !late.node.reports.withLock({ $0.haveDeadlines }) { await Task.yield() }
            fixture.engine.releaseFrames(for: late.node.process)
            #expect(await changed.outcome.status == 200)
            stream.onEnd(.neverOpened)
        }
    }

    /// Its owner would not see a stream with the subscription in between.
    @Test func aRecreatedSubscriptionHasItsOwnerFromTheBeginning() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, heir) = (fixture.members[0], fixture.members[1])
            let id = await owner.makeSubscription(as: AccessFixture.alice)
            await fixture.settle()
            let isThere = Mutex<[Bool]>([])
            heir.services.access.owners.usage.observe { [pool = heir.services.pool] id, identity, items in
                let isLookedUp = DispatchSemaphore(value: 0)
                // The lock of the pool comes before the lock that this thread has.
                Thread.detachNewThread {
                    isThere.withLock { $0.append(pool.resource(SubscriptionID(id)) != nil) }
                    isLookedUp.signal()
                }
                isLookedUp.wait()
                heir.node.made(.subscriptionUsed(id, identity: identity, items: items))
            }
            try await ConfirmationTests.replace(owner, by: heir, fixture.engine)
            #expect(await heir.perform("GET", "/v1/subscriptions/\(id)", as: AccessFixture.alice).status == 200)
            #expect(isThere.withLock { $0 } == [false])
        }
    }
}
