import Changes
import MicroHTTPD
import Replication
import Testing

@testable import Gateway
@testable import GatewayCluster

/// Requests and responses between members, and tickets, as bytes.
struct MemberMessagesTests {
    /// The bytes of format 2, which do not change while a build reads the format.
    private static let call = """
        0201070000000000000009000000000000000800000000000000020103474554032f7631000106416363657074\
        032a2f2a000172033a3a3101016b01047265616400000000000000000000
        """
    private static let reply = "0201a80601096e6f742d666f756e6401044554616701780101"

    private static func response(status: Int) -> Response {
        var response = Response(status: status).with("ETag", "x")
        response.body = .bytes([1])
        response.problem = .notFound
        return response
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func callsHaveTheBytesOfFormat2() throws {
        let request = ForwardedRequest(
            http: HTTPRequest(
                method: "GET",
                rawPath: "/v1",
                headers: [HTTPField("Accept", "*/*")],
                peer: PeerAddress(host: "::1", port: 0)
            ),
            requestID: "r",
            caller: Caller(identity: "k", rights: Rights(operations: [.read], upstreams: [], items: []))
        )
        #expect(hex(MemberCall.perform([request], number: 7, member: 9, position: 8).bytes) == Self.call)
        #expect(hex(Wire.responses.bytes([Self.response(status: 404)])) == Self.reply)
    }

    @Test func requestsAndResponsesAreReadAsTheyWereWritten() throws {
        var caller = Caller(
            identity: "key:a",
            rights: Rights(operations: [.read], upstreams: [WildcardPattern("*")], items: [WildcardPattern("i*")])
        )
        caller.rights.maxItems = 7
        caller.rights.dataAdapters = [WildcardPattern("STOCKS")]
        caller.rights.feeds = [WildcardPattern("quotes")]
        caller.verifiedBy = [1, 2]
        let http = HTTPRequest(
            method: "PATCH",
            rawPath: "/v1/subscriptions/s%20",
            rawQuery: "a=b",
            headers: [HTTPField("If-Match", "\"x\""), HTTPField("If-Match", "")],
            peer: PeerAddress(host: "::1", port: 0)
        )
        let request = ForwardedRequest(http: http, body: [0, 255], requestID: "r1", caller: caller, isListing: true)
        let calls = [
            MemberCall.perform([request, request], number: 7, member: 9, position: 8), .cancel(7), .endWaits(7),
            .lastReads([.client("c"), .subscription("s")]),
        ]
        for call in calls {
            #expect(try MemberCall(call.bytes).bytes == call.bytes)
            for count in call.bytes.indices { #expect((try? MemberCall(Array(call.bytes[..<count]))) == nil) }
        }
        guard case .perform(let requests, 7, 9, 8) = try MemberCall(calls[0].bytes) else {
            Issue.record("another call")
            return
        }
        #expect(requests.map(\.caller) == [caller, caller] && requests.map(\.body) == [[0, 255], [0, 255]])
        #expect(requests.allSatisfy { $0.http.headers == http.headers && $0.http.peer == http.peer && $0.isListing })
    }

    @Test func responsesAreReadAsTheyWereWritten() throws {
        let bytes = Wire.responses.bytes([Self.response(status: 404)])
        let read = try #require(try Wire.responses.value(bytes).first)
        #expect(read.status == 404 && read.problem == .notFound)
        #expect(read.headers == [HTTPField("ETag", "x")] && read.bytes == [1])
        for count in bytes.indices { #expect((try? Wire.responses.value(bytes[..<count])) == nil) }
        #expect((try? Wire.responses.value(Wire.responses.bytes([Response(status: 42)]))) == nil)
        let ages: [UInt64?] = [nil, 0, .max]
        #expect(try Wire.ages.value(Wire.ages.bytes(ages)) == ages)
    }

    @Test func ticketIsReadAsItWasWritten() throws {
        var caller = Caller(
            identity: "jwt:x",
            rights: Rights(operations: [.read], upstreams: [WildcardPattern("*")], items: [WildcardPattern("a*")]),
            expiry: 2.5
        )
        caller.rights.streams = 3
        caller.rights.rate = 0.5
        caller.rights.maxItems = 7
        let use = TicketUse(key: RecordKey(high: 1, low: 1), epoch: 7, issuedAt: 300)
        let ticket = ClusterTicket(use: use, expiresAt: 1.5, caller: caller, credential: [1, 2])
        let bytes = ClusterTicket.wire.bytes(ticket)
        let read = try ClusterTicket.wire.value(bytes)
        #expect(read.use == use && read.expiresAt == 1.5 && read.caller == caller && read.credential == [1, 2])
        for count in bytes.indices {
            #expect(throws: CodingError.self) { try ClusterTicket.wire.value(bytes[..<count]) }
        }
    }
}
