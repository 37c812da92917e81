import Replication
import Synchronization
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct SealedEngineTests {
    private static let secret = "0123456789abcdef"

    private func seals(_ process: UInt64, secret: String = SealedEngineTests.secret) -> EngineSeals {
        EngineSeals(secret: secret, process: process, clock: { 100 })
    }

    @Test func nothingOnTheEngineCanBeRead() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let id = await owner.makeSubscription(items: #"["hidden-item"]"#)
            _ = await owner.makeSubscription(as: AccessFixture.alice)
            #expect(await other.perform("GET", "/v1/subscriptions/\(id)").status == 200)
            let stream = "/v1/stream?upstream=demo&mode=MERGE&items=hidden-item&fields=hidden-field"
            let pending = other.start("GET", stream)
            #expect(await pending.outcome.isStream)
            await fixture.settle()
            for bytes in fixture.engine.traffic {
                let text = String(decoding: bytes, as: UTF8.self)
                for secret in ["hidden", "key:alice", "key:admin", "demo", "/v1/", id] {
                    #expect(!text.contains(secret), "\(secret)")
                }
            }
            pending.stream?.onEnd(.neverOpened)
        }
    }

    @Test func aRecordedCallIsPerformedOnce() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let made = await owner.perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let client = try #require(made.json["id"]?.string)
            let body = #"{"client":"\#(client)","mode":"MERGE","items":["item1"],"fields":["f"],"active":false}"#
            #expect(await other.perform("POST", "/v1/subscriptions", body).status == 201)
            await fixture.settle()
            #expect(owner.services.pool.resources().count == 1)
            fixture.engine.repeatCalls()
            await fixture.settle()
            #expect(owner.services.pool.resources().count == 1)
        }
    }

    @Test func aCallOpensForItsReceiverAndOnce() {
        let (sender, receiver, other) = (seals(1), seals(2), seals(3))
        let stamp = sender.nextStamp(for: 2)
        let call = sender.message([7], stamp, .call(stamp))
        let reply = Mutex<[UInt8]>([])
        let input = EngineInput.call(call) { bytes in reply.withLock { $0 = bytes } }
        #expect(!other.opens(input))
        #expect(!receiver.opens(.call(call, reply: nil)))
        guard case .call(let bytes, let answer?)? = receiver.open(input) else {
            Issue.record("the call does not open")
            return
        }
        #expect(bytes == [7])
        #expect(!receiver.opens(input))
        answer([8])
        let sealed = reply.withLock { $0 }
        #expect(sender.open(sealed, .reply(.call(stamp))) == [8])
        #expect(sender.open(sealed, .reply(.call(sender.nextStamp(for: 2)))) == nil)
    }

    @Test func aRequestToAllOpensOnceForEach() {
        let (sender, receiver, other) = (seals(1), seals(2), seals(3))
        let request = sender.request([7], 5)
        #expect(receiver.opens(.groupRequest(request, reply: { _ in })))
        #expect(!receiver.opens(.groupRequest(request, reply: { _ in })))
        #expect(other.opens(.groupRequest(request, reply: { _ in })))
        #expect(receiver.opens(.groupRequest(sender.request([7], 6), reply: { _ in })))
    }

    @Test func anyChangeOfACallIsNoticed() {
        let sender = seals(1)
        let stamp = sender.nextStamp(for: 2)
        let call = sender.message([7, 8], stamp, .call(stamp))
        for index in call.indices {
            var changed = call
            changed[index] ^= 1
            #expect(!seals(2).opens(.call(changed, reply: { _ in })), "\(index)")
        }
        for count in 0..<call.count { #expect(!seals(2).opens(.call(Array(call[..<count]), reply: { _ in }))) }
    }

    @Test func framesOfAnotherSecretAreEmptyAndLeaveNoHole() {
        let frame = StoredFrame(position: 3, bytes: seals(1).seal([1, 2], .frame))
        #expect(seals(2).open(frame) == StoredFrame(position: 3, bytes: [1, 2]))
        #expect(seals(2, secret: "another secret").open(frame) == StoredFrame(position: 3, bytes: []))
        #expect(seals(2).open(StoredFrame(position: 3, bytes: seals(1).seal([1], .broadcast))).bytes.isEmpty)
    }

    /// The next frame of the log has its position.
    @Test func aForgedFrameHasNoEffect() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            await fixture.settle()
            let epochs = fixture.members.map { $0.node.clusterFigures.member.counters.epochs }
            for isStored in [false, true] {
                let end = UInt64(fixture.engine.figures.frames)
                if isStored { fixture.engine.append([1, 2, 3]) }
                fixture.engine.forge(StoredFrame(position: end + 1, bytes: [4]))
                let path = "/v1/subscriptions/\(await owner.makeSubscription())"
                #expect(await other.perform("GET", path).status == 200)
                await fixture.settle()
            }
            let counters = fixture.members.map(\.node.clusterFigures.member.counters)
            #expect(counters.map(\.epochs) == epochs && counters.map(\.divergences) == [0, 0])
        }
    }

    /// No later frame shows that the log has it.
    @Test func aFrameThatDoesNotOpenAtTheEndOfTheLogDelaysNoRequest() async throws {
        try await ClusterFixture.run(suspect: .seconds(1_000_000)) { fixture in
            let member = fixture.members[1]
            await fixture.settle()
            fixture.engine.append([1, 2, 3])
            let list = member.start("GET", "/v1/subscriptions")
            while member.node.state.withLock({ $0.machine.isSettled }) { await Task.yield() }
            fixture.time.pass(0.1)
            #expect(await list.outcome.status == 200)
        }
    }

    @Test func timesOfASenderNeverDecrease() {
        let clock = ManualWall()
        let sender = EngineSeals(secret: Self.secret, process: 1, clock: { clock.seconds })
        let first = sender.nextStamp(for: 2)
        clock.set(50)
        let second = sender.nextStamp(for: 2)
        #expect(first.time == 100_000 && second.time == 100_000)
        #expect((first.number, second.number) == (1, 2))
        #expect(sender.nextStamp(for: 3).number == 1)
    }
}

extension EngineSeals {
    /// Whether a message opens.
    fileprivate func opens(_ input: EngineInput) -> Bool {
        if case .none = open(input) { false } else { true }
    }
}

/// A clock that a test sets.
private final class ManualWall: Sendable {
    private let value = Mutex(100.0)

    var seconds: Double { value.withLock { $0 } }

    func set(_ seconds: Double) { value.withLock { $0 = seconds } }
}
