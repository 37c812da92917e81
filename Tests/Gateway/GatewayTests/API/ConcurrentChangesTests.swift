import Dispatch
import EventHub
import JSONText
import MicroHTTPD
import StreamIO
import Synchronization
import Testing

@testable import Gateway

/// Changes of one resource by several requests at once.
@Suite struct ConcurrentChangesTests {
    private let fixture = Fixture()
    private static let rounds = 200

    private func perform(_ method: String, _ path: String, _ bodies: [String], ifMatch tag: String? = nil) -> [Int] {
        let statuses = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: bodies.count) { [fixture] index in
            let headers = tag.map { ["If-Match": $0] } ?? [:]
            let status = fixture.perform(method, path, bodies[index], headers).status
            statuses.withLock { $0.append(status) }
        }
        return statuses.withLock { $0.sorted() }
    }

    private func makeSubscription() throws -> String {
        let body = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["f"],"active":false}"#
        return try #require(fixture.perform("POST", "/v1/subscriptions", body).headers["Location"])
    }

    @Test func patchesOfOneSubscriptionLoseNothing() throws {
        let path = try makeSubscription()
        for round in 1...Self.rounds {
            let bodies = [
                #"{"items":["a\#(round)"]}"#, #"{"selector":"s\#(round)"}"#, #"{"requestedMaxFrequency":\#(round)}"#,
            ]
            #expect(perform("PATCH", path, bodies) == [200, 200, 200])
            let json = fixture.perform("GET", path).json
            #expect(json["items"]?.array?.first?.string == "a\(round)")
            #expect(json["selector"]?.string == "s\(round)")
            #expect(json["requestedMaxFrequency"]?.number?.intValue == round)
        }
    }

    @Test func oneOfSeveralPatchesOfAStreamWithTheSameTagSucceeds() throws {
        let sources = (0..<4).map { _ in #"{"subscription":"\#(fixture.makeSubscription())"}"# }
        let made = fixture.perform("POST", "/v1/streams", #"{"sources":[\#(sources[3])]}"#)
        let path = try #require(made.headers["Location"])
        let additions = sources.prefix(3).map { #"{"add":[\#($0)]}"# }
        for _ in 1...Self.rounds {
            let tag = try #require(fixture.perform("GET", path).headers["ETag"])
            #expect(perform("PATCH", path, additions, ifMatch: tag) == [200, 412, 412])
            #expect(fixture.perform("GET", path).json["sources"]?.array?.count == 2)
            let removal = #"{"remove":[\#(sources.prefix(3).joined(separator: ","))]}"#
            #expect(fixture.perform("PATCH", path, removal).status == 200)
        }
    }

    /// Opens a prepared stream while another request for it is performed; nil if the stream is gone.
    private func open(_ path: String, during method: String, _ body: String = "") -> AdmittedStream? {
        let opened = Mutex<AdmittedStream?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { [fixture] index in
            if index == 0 {
                _ = fixture.perform(method, path, body)
            } else if case .stream(_, let stream) = fixture.host.decide(
                HTTPRequest(method: "GET", rawPath: path + "/events"),
                later: { _ in }
            ) {
                opened.withLock { $0 = stream }
            }
        }
        return opened.withLock { $0 }
    }

    @Test func aPatchOfAStreamThatOpensIsNotLost() throws {
        let sources = (0..<2).map { _ in #"{"subscription":"\#(fixture.makeSubscription())"}"# }
        let made = fixture.perform("POST", "/v1/streams", #"{"sources":[\#(sources[0])]}"#)
        let path = try #require(made.headers["Location"])
        for round in 1...Self.rounds {
            let isAdded = round % 2 == 1
            let change = #"{"\#(isAdded ? "add" : "remove")":[\#(sources[1])]}"#
            let stream = try #require(open(path, during: "PATCH", change))
            #expect(fixture.hub.stream(stream.id)?.request.sources.count == (isAdded ? 2 : 1), "round \(round)")
            stream.onEnd(.neverOpened)
        }
    }

    @Test func aStreamThatIsDeletedWhileItOpensIsClosed() throws {
        let source = #"{"subscription":"\#(fixture.makeSubscription())"}"#
        for round in 1...Self.rounds {
            let made = fixture.perform("POST", "/v1/streams", #"{"sources":[\#(source)]}"#)
            let path = try #require(made.headers["Location"])
            guard let stream = open(path, during: "DELETE") else { continue }
            #expect(fixture.hub.closeReason(of: stream.id) == "deleted", "round \(round)")
            stream.onEnd(.neverOpened)
        }
    }

    @Test func oneOfSeveralPatchesWithTheSameTagSucceeds() throws {
        let client = "/v1/clients/\(fixture.makeClient())"
        for path in [try makeSubscription(), client + "/options", client + "/details"] {
            for round in 1...Self.rounds {
                let tag = try #require(fixture.perform("GET", path).headers["ETag"])
                let member = ["options": "retryDelay", "details": "user"][path.split(separator: "/").last ?? ""]
                let bodies = [1, 2, 3].map { number in
                    switch member {
                    case "retryDelay": #"{"retryDelay":\#(round * 3 + number)}"#
                    case "user": #"{"user":"u\#(round * 3 + number)"}"#
                    default: #"{"selector":"s\#(round * 3 + number)"}"#
                    }
                }
                #expect(perform("PATCH", path, bodies, ifMatch: tag) == [200, 412, 412], "\(path)")
            }
        }
    }
}
