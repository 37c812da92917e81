internal import Testing

@testable internal import TLCP

/// Requests in the exact order of parameters that official clients use.
struct ClientRequestTests {
    @Test(arguments: pairs)
    func encodesParametersInTheOrderOfOfficialClients(request: ClientRequest, line: String) {
        #expect(String(decoding: request.encoded, as: UTF8.self) == line)
    }

    @Test(arguments: pairs)
    func comesBackOverWebSocketAndHTTP(request: ClientRequest, line: String) {
        #expect(RequestParser.parse(webSocketMessage: request.webSocketMessage[...]) == [.success(request)])
        let query = Array("LS_protocol=TLCP-2.5.0".utf8)
        let parsed = RequestParser.parse(request.name, query: query[...], body: request.httpBody[...])
        #expect(parsed == [.success(request)])
    }

    @Test func parameterlessMessagesHaveTheirFixedForms() {
        #expect(ClientRequest.wsok.webSocketMessage == Array("wsok".utf8))
        #expect(ClientRequest.heartbeat(HeartbeatRequest()).webSocketMessage == Array("heartbeat\r\n\r\n".utf8))
        #expect(ClientRequest.heartbeat(HeartbeatRequest()).httpBody == Array("\r\n".utf8))
        #expect(RequestParser.parse(webSocketMessage: Array("wsok".utf8)[...]) == [.success(.wsok)])
    }

    @Test func sizesOfWholeBodiesAreThoseOfTheTranscripts() {
        #expect(Self.pairs[1].0.httpBody.count == 122)
        let bind = BindSessionRequest(
            sessionID: SessionID("S9ab4c1e07f32d5M1T0412002"),
            connection: ConnectionParameters(.streaming(sendsSync: false), contentLength: 10000),
            cause: "http.loop"
        )
        #expect(ClientRequest.bindSession(bind).httpBody.count == 98)
        let adds = ["item1", "nosuchitem"].enumerated().map { index, item in
            Self.control(
                index + 1,
                Self.add {
                    $0.subscriptionID = SubscriptionID(index + 1)
                    $0.group = item
                    $0.schema = "price"
                    $0.snapshot = .yes
                }
            )
        }
        var batch = RequestBatch(adds[0], form: .http, limit: 50000)
        let isAppended = batch.append(adds[1])
        #expect(isAppended && batch.bytes.count == 193)
    }

    @Test func comboTravelsAsOneLineForEachOperation() {
        var create = CreateSessionRequest(connection: ConnectionParameters(.streaming()))
        create.adapterSet = "DEMO"
        create.operations = (1...2).map { number in
            Self.add {
                $0.subscriptionID = SubscriptionID(number)
                $0.group = "item\(number)"
                $0.schema = "price"
            }
        }
        let message = ClientRequest.createSession(create).webSocketMessage
        let lines = [
            "create_session", "LS_adapter_set=DEMO&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg",
            "LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price",
            "LS_op=add&LS_subId=2&LS_mode=MERGE&LS_group=item2&LS_schema=price",
        ]
        #expect(String(decoding: message, as: UTF8.self) == lines.joined(separator: "\r\n"))
        #expect(RequestParser.parse(webSocketMessage: message[...]) == [.success(.createSession(create))])
    }

    @Test func endOfDestroyFollowsItsCause() {
        #expect(DestroyRequest().end == .end(code: 31, message: "Destroy invoked by client"))
        #expect(DestroyRequest(causeCode: 7).end == .end(code: 0, message: "null"))
        #expect(DestroyRequest(causeCode: -5, causeMessage: "bye").end == .end(code: -5, message: "bye"))
        #expect(DestroyRequest(causeMessage: "bye").end == .end(code: 31, message: "Destroy invoked by client"))
    }
}

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
