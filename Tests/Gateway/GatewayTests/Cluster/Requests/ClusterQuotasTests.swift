import MicroHTTPD
import Replication
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ClusterQuotasTests {
    private static let stream = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f"
    private static let prepared = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f"]}"#
    private static let quota = QuotaUnit.stream("", of: "key:alice").quota

    /// Alice may have this number of streams.
    private static func access(_ streams: Int?) -> AccessConfiguration {
        var access = AccessFixture.keys()
        access.keys[1].rights.streams = streams
        return access
    }

    private static func used(_ member: ClusterMember) -> Int? {
        member.node.state.withLock { $0.machine.ledger?.quotas.used(of: quota).count }
    }

    @Test func theStreamsOfAllMembersCountTogether() async throws {
        try await ClusterFixture.run(3, access: Self.access(4)) { fixture in
            let requests = (0..<12).map { number in
                fixture.members[number % 3].start("GET", Self.stream, as: AccessFixture.alice)
            }
            var open: [PendingOutcome] = []
            for request in requests {
                let outcome = await request.outcome
                if outcome.isStream { open.append(request) } else { #expect(outcome.status == 503) }
            }
            #expect(open.count == 4)
            #expect(fixture.members.reduce(0) { $0 + $1.services.streams.count } == 4)
            let browser = [HTTPField("Accept", "text/event-stream")]
            let closing = await fixture.members[0].perform("GET", Self.stream, as: AccessFixture.alice, "", browser)
            #expect(closing.status == 200 && closing.text.contains("stream-limit"))
            #expect(await fixture.members[1].perform("GET", Self.stream, as: AccessFixture.bob).isStream)
            open[0].stream?.onEnd(.neverOpened)
            await fixture.settle()
            #expect(Self.used(fixture.members[0]) == 3)
            #expect(await fixture.members[2].perform("GET", Self.stream, as: AccessFixture.alice).isStream)
            #expect(await fixture.members[1].perform("GET", Self.stream, as: AccessFixture.alice).status == 503)
        }
    }

    @Test func aPreparedStreamCountsOnceWhicheverMemberHasIt() async throws {
        try await ClusterFixture.run(access: Self.access(1)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let made = await first.perform("POST", "/v1/streams", as: AccessFixture.alice, Self.prepared)
            let path = "/v1/streams/\(made.json["id"]?.string ?? "")"
            #expect(await second.perform("POST", "/v1/streams", as: AccessFixture.alice, Self.prepared).status == 503)
            #expect(await second.perform("GET", Self.stream, as: AccessFixture.alice).status == 503)
            let opened = second.start("GET", path + "/events", as: AccessFixture.alice)
            #expect(await opened.outcome.isStream)
            await fixture.settle()
            #expect(Self.used(first) == 1)
            opened.stream?.onEnd(.neverOpened)
            await fixture.settle()
            #expect(await first.perform("GET", Self.stream, as: AccessFixture.alice).status == 503)
            #expect(await first.perform("DELETE", path, as: AccessFixture.alice).status == 204)
            await fixture.settle()
            #expect(Self.used(first) == 0)
        }
    }

    @Test func aMemberThatReturnsCountsItsStreamsAgain() async throws {
        try await ClusterFixture.run(access: Self.access(1)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            #expect(await first.perform("GET", Self.stream, as: AccessFixture.alice).isStream)
            try await ConfirmationTests.replace(first, by: second, fixture.engine)
            await fixture.settle()
            #expect(await second.perform("GET", Self.stream, as: AccessFixture.alice).status == 503)
            #expect(Self.used(second) == 1)
        }
    }

    @Test func streamsOfCallersWithoutALimitAreNotInTheLog() async throws {
        try await ClusterFixture.run(access: Self.access(nil)) { fixture in
            let request = fixture.members[0].start("GET", Self.stream, as: AccessFixture.alice)
            #expect(await request.outcome.isStream)
            for member in fixture.members { await member.catchUp() }
            #expect(Self.used(fixture.members[1]) == 0)
        }
    }
}
