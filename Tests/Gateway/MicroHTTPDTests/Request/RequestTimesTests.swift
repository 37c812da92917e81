internal import Glibc
internal import Primitives
internal import Testing

@testable internal import MicroHTTPD

@Suite struct RequestTimesTests {
    /// The times of the connections of a server that does not run.
    private final class Fixture {
        let times: RequestTimes
        private let driver: LoopDriver
        private let server: HTTPServer
        /// The slots whose deadlines have passed.
        private(set) var due: [Int] = []

        init() throws {
            var configuration = DaemonConfiguration()
            (configuration.idleTimeout, configuration.requestTimeout) = (.seconds(10), .seconds(20))
            times = RequestTimes(configuration: configuration, now: .zero)
            driver = try LoopDriver(
                loop: StreamLoop(),
                configuration: configuration,
                handler: TestHandler(),
                ledger: ConnectionLedger(configuration),
                listener: .open(configuration)
            ) { TestFeed($0) }
            server = try HTTPServer(driver: driver, token: 1, certificate: nil)
        }

        deinit {
            server.stop()
            driver.shutDown()
        }

        /// A connection of the library.
        func add(descriptor: Int32) -> ConnectionRecord {
            let peer = PeerAddress(host: "127.0.0.1", port: 1)
            let place = ConnectionPlace(peer: peer, group: nil, descriptor: descriptor, isReserved: false)
            return times.add(place, of: server)
        }

        /// A connection of the loop.
        func add(_ act: @escaping (ConnectionRecord) -> Void = { _ in }) -> ConnectionRecord {
            let record = add(descriptor: -1)
            record.onDeadline = { [unowned self, unowned record] in
                due.append(record.slot)
                act(record)
            }
            return record
        }
    }

    @Test(arguments: [false, true])
    func aClientThatHasClosedItsSideIsNotWaitedFor(isIdle: Bool) throws {
        let fixture = try Fixture()
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        defer { ends.forEach { close($0) } }
        func isShutDown() -> Bool {
            var byte: UInt8 = 0
            return recv(ends[1], &byte, 1, 0) == 0
        }
        let record = fixture.add(descriptor: ends[0])
        fixture.times.requestBegan(record)
        if isIdle { fixture.times.requestEnded(record) }
        fixture.times.advance(to: .zero + .milliseconds(1100))
        #expect(!isShutDown())
        // Bytes that the library has not read yet may complete the request.
        #expect(send(ends[1], "a", 1, 0) == 1)
        shutdown(ends[1], Int32(SHUT_WR))
        fixture.times.advance(to: .zero + .milliseconds(2200))
        #expect(!isShutDown())
        var byte: UInt8 = 0
        #expect(recv(ends[0], &byte, 1, 0) == 1)
        if isIdle {
            fixture.times.requestBegan(record)
            fixture.times.requestEnded(record)
        }
        fixture.times.advance(to: .zero + .milliseconds(3300))
        #expect(isShutDown())
    }

    @Test func anIdleConnectionOfTheLoopIsLateAfterTheIdleTimeout() throws {
        let fixture = try Fixture()
        let record = fixture.add()
        fixture.times.requestEnded(record)
        fixture.times.advance(to: .zero + .milliseconds(9900))
        #expect(fixture.due.isEmpty)
        fixture.times.advance(to: .zero + .milliseconds(10_100))
        #expect(fixture.due == [record.slot])
    }

    @Test func aConnectionThatGetsTheSlotOfALateOneIsNotLate() throws {
        let fixture = try Fixture()
        var records: [ConnectionRecord] = []
        var isDone = false
        for _ in 0..<2 {
            records.append(
                fixture.add { _ in
                    guard !isDone else { return }
                    isDone = true
                    // The first action ends both connections, and new ones get their slots.
                    records.forEach { fixture.times.remove($0) }
                    records = [fixture.add(), fixture.add()]
                }
            )
        }
        let slots = Set(records.map(\.slot))
        fixture.times.advance(to: .zero + .seconds(21))
        #expect(fixture.due.count == 1)
        #expect(Set(records.map(\.slot)) == slots)
    }
}
