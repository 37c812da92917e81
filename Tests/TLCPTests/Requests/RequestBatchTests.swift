internal import Testing

@testable internal import TLCP

struct RequestBatchTests {
    private func delete(_ id: Int) -> ClientRequest {
        .control(
            ControlRequest(
                requestID: RequestID(id),
                operation: .delete(DeleteRequest(subscriptionID: SubscriptionID(id)))
            )
        )
    }

    private func message(_ id: Int) -> ClientRequest {
        var request = MessageRequest(requestID: RequestID(id), text: "m")
        request.progressive = id
        return .message(request)
    }

    /// Batches of requests in their order, as few as that order and the limit allow.
    private func batches(_ requests: [ClientRequest], form: RequestBatch.Form, limit: Int) -> [RequestBatch] {
        var batches: [RequestBatch] = []
        for request in requests {
            if let last = batches.indices.last, batches[last].append(request) { continue }
            batches.append(RequestBatch(request, form: form, limit: limit))
        }
        return batches
    }

    @Test func namesAreNeverMixedAndOrderIsKept() {
        let batches = self.batches(
            [delete(1), delete(2), message(3), message(4), delete(5), .heartbeat(HeartbeatRequest()), .wsok],
            form: .webSocket,
            limit: 50000
        )
        #expect(batches.map(\.name) == [.control, .msg, .control, .heartbeat, .wsok])
        #expect(batches.map(\.count) == [2, 2, 1, 1, 1])
        #expect(
            String(decoding: batches[0].bytes, as: UTF8.self)
                == "control\r\nLS_reqId=1&LS_subId=1&LS_op=delete\r\nLS_reqId=2&LS_subId=2&LS_op=delete"
        )
        #expect(batches[4].bytes == Array("wsok".utf8))
    }

    @Test func limitCountsTheNameOnWebSocketsOnly() {
        let line = delete(1).encoded.count
        let requests = [delete(1), delete(2)]
        #expect(batches(requests, form: .http, limit: 2 * line + 2).count == 1)
        #expect(batches(requests, form: .http, limit: 2 * line + 1).count == 2)
        #expect(batches(requests, form: .webSocket, limit: 2 * line + 2).count == 2)
        #expect(batches(requests, form: .webSocket, limit: 2 * line + 2 + 9).count == 1)
    }

    @Test func requestBeyondTheLimitTravelsAlone() {
        let batches = self.batches([delete(1), delete(2), delete(3)], form: .http, limit: 5)
        #expect(batches.map(\.count) == [1, 1, 1])
        #expect(batches[1].bytes == delete(2).encoded)
    }

    @Test func batchIsReadBackLineByLine() {
        let requests = (1...20).map(delete)
        let batch = batches(requests, form: .webSocket, limit: 50000)[0]
        #expect(RequestParser.parse(webSocketMessage: batch.bytes[...]) == requests.map { .success($0) })
    }
}
