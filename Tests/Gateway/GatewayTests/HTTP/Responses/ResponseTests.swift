import StreamIO
import Testing

@testable import Gateway

@Suite struct ResponseTests {
    @Test func aLargeBodyIsSharedWithTheServer() {
        for count in [0, 1, Response.largeBody - 1, Response.largeBody, Response.largeBody + 1] {
            let bytes = [UInt8](repeating: 0x61, count: count)
            let response = Response(status: 200, mediaType: "text/plain", body: bytes).httpResponse()
            switch response.body {
            case .bytes(let sent):
                #expect(count < Response.largeBody)
                #expect(sent == bytes)
            case .shared(let sent):
                #expect(count >= Response.largeBody)
                #expect(Array(sent.bytes) == bytes)
            case .empty, .omitted: Issue.record("the body is lost")
            }
        }
    }
}
