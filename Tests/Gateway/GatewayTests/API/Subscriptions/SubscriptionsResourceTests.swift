import Dispatch
import LightstreamerClient
import MicroHTTPD
import SessionPool
import Testing

@testable import Gateway

@Suite struct SubscriptionsResourceTests {
    private let fixture = Fixture()

    @Test func aSubscriptionIsMadeShownAndDeleted() {
        let body = #"{"upstream":"demo","mode":"MERGE","items":["i1"],"fields":["f1"],"active":false}"#
        let made = fixture.perform("POST", "/v1/subscriptions", body)
        #expect(made.status == 201)
        let location = made.headers["Location"] ?? ""
        let shown = fixture.perform("GET", location)
        #expect(shown.json["mode"]?.string == "MERGE")
        #expect(shown.json["requestedSnapshot"]?.string == "yes")
        #expect(shown.json["active"]?.bool == false)
        #expect(shown.json["itemGroup"]?.isNull == true)
        #expect(fixture.perform("DELETE", location).status == 204)
        #expect(fixture.perform("GET", location).code == "unknown-subscription")
    }

    @Test func aLargeSubscriptionIsChangedOnTheBackgroundQueue() throws {
        let resource = try fixture.services.pool.createResource(
            home: .pooled(try fixture.services.pool.settings.sessionKey(upstream: "demo")),
            properties: SubscriptionProperties(
                mode: .merge,
                items: .list((0...50_000).map { "i\($0)" }),
                fields: .list(["f"])
            )
        )
        fixture.services.background.stop()
        let path = "/v1/subscriptions/\(resource.id)"
        #expect(fixture.perform("PATCH", path, #"{"requestedMaxFrequency":2}"#).code == "unavailable")
        // These wait for the end of a change.
        #expect(fixture.perform("DELETE", path, "", ["If-Match": "*"]).code == "unavailable")
        #expect(fixture.perform("POST", path + "/unsubscribe").code == "unavailable")
        // This does not.
        #expect(fixture.perform("DELETE", path).status == 204)
    }

    @Test func manySubscriptionsAreListedOnTheBackgroundQueue() {
        let client = fixture.makeClient()
        for _ in 0..<100 { _ = fixture.makeSubscription() }
        #expect(fixture.perform("GET", "/v1/subscriptions").json["subscriptions"]?.array?.count == 100)
        _ = fixture.makeSubscription()
        fixture.services.background.stop()
        for target in ["/v1/subscriptions", "/v1/clients", "/v1/clients/" + client] {
            #expect(fixture.perform("GET", target).code == "unavailable")
        }
    }

    @Test(arguments: [
        (#"{"upstream":"demo","client":"c","mode":"MERGE","items":["a"],"fields":["b"]}"#, ["/client"]),
        (#"{"upstream":"demo","mode":"X","items":["a"],"fields":["b"]}"#, ["/mode"]),
    ])
    func nothingIsMadeOfABadBody(body: String, pointers: [String]) {
        let outcome = fixture.perform("POST", "/v1/subscriptions", body)
        #expect(outcome.status == 422)
        #expect(outcome.pointers == pointers)
        #expect(fixture.services.pool.resources().isEmpty)
    }

    @Test func upstreamIsRequiredWhereNoneIsTheDefault() {
        let several = Fixture(upstreams: ["one", "two"])
        let outcome = several.perform("POST", "/v1/subscriptions", #"{"items":["a"],"fields":["b"]}"#)
        #expect(outcome.status == 422)
        #expect(outcome.pointers == ["/upstream"])
        #expect(several.services.pool.resources().isEmpty)
        let only = fixture.perform("POST", "/v1/subscriptions", #"{"items":["a"],"fields":["b"],"active":false}"#)
        #expect(only.status == 201)
        #expect(only.json["upstream"]?.string == "demo")
    }

    @Test func anEncodedBodyIsRefused() {
        let body = #"{"items":["a"],"fields":["b"],"active":false}"#
        #expect(fixture.perform("POST", "/v1/subscriptions", body, ["Content-Encoding": "gzip"]).status == 415)
        #expect(fixture.perform("POST", "/v1/subscriptions", body, ["Content-Encoding": "identity"]).status == 201)
    }

    @Test func aPatchObeysIfMatch() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription()
        let tag = fixture.perform("GET", path).headers["ETag"] ?? ""
        let patch = #"{"items":["i2"]}"#
        #expect(fixture.perform("PATCH", path, patch, ["If-Match": "\"other\""]).status == 412)
        let changed = fixture.perform("PATCH", path, patch, ["If-Match": tag])
        #expect(changed.status == 200)
        #expect(changed.json["items"]?.array?.first?.string == "i2")
        #expect(fixture.perform("PATCH", path, patch, ["If-Match": tag]).status == 412)
    }

    @Test func aDeletionObeysIfMatch() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription()
        let former = fixture.perform("GET", path).headers["ETag"] ?? ""
        let present = fixture.perform("PATCH", path, #"{"items":["i2"]}"#).headers["ETag"] ?? ""
        #expect(fixture.perform("DELETE", path, "", ["If-Match": former]).status == 412)
        #expect(fixture.perform("GET", path).status == 200)
        #expect(fixture.perform("DELETE", path, "", ["If-Match": present]).status == 204)
        #expect(fixture.perform("DELETE", path, "", ["If-Match": present]).status == 404)
    }

    @Test func anActiveSubscriptionAdmitsOnlyFrequencyChanges() {
        let body = #"{"upstream":"demo","mode":"MERGE","items":["i1"],"fields":["f1"],"requestedMaxFrequency":1}"#
        let path = fixture.perform("POST", "/v1/subscriptions", body).headers["Location"] ?? ""
        let many = fixture.perform("PATCH", path, #"{"items":["i2"],"fields":["f1"],"ttl":5,"dataAdapter":"a"}"#)
        #expect(many.code == "lifecycle")
        #expect(many.status == 409)
        #expect(many.pointers == ["/items", "/dataAdapter"])
        #expect(fixture.perform("POST", path + "/subscribe").status == 200)
        #expect(fixture.perform("PATCH", path, #"{"requestedMaxFrequency":2}"#).status == 200)
        #expect(fixture.perform("PATCH", path, #"{"requestedMaxFrequency":null}"#).status == 409)
        let unfiltered = fixture.perform("PATCH", path, #"{"requestedMaxFrequency":"unfiltered"}"#)
        #expect(unfiltered.status == 409)
        #expect(unfiltered.pointers == ["/requestedMaxFrequency"])
        #expect(fixture.perform("PATCH", path, #"{"requestedSnapshot":5}"#).status == 422)
        #expect(fixture.perform("POST", path + "/unsubscribe").status == 202)
        #expect(fixture.perform("PATCH", path, #"{"items":["i2"]}"#).status == 200)
    }

    @Test func anAbsentKeyIsNullSoThatALongPollCanWaitForIt() {
        let body =
            #"{"upstream":"demo","mode":"COMMAND","items":["p"],"fields":["key","command","qty"],"active":false}"#
        let path = (fixture.perform("POST", "/v1/subscriptions", body).headers["Location"] ?? "") + "/values/p/keys/k"
        let value = fixture.perform("GET", path + "/qty")
        #expect(value.status == 200 && value.json["value"] == .null)
        #expect(fixture.perform("GET", path + "/qty", "", ["Accept": "text/plain"]).status == 204)
        #expect(fixture.perform("GET", path).json["fields"] == .null)
        #expect(fixture.perform("GET", path + "/none").code == "unknown-field")
        let waiting = ["If-None-Match": value.headers["ETag"] ?? "", "Prefer": "wait=30"]
        #expect(fixture.perform("GET", path + "/qty", "", waiting).isWaiting)
    }

    @Test func anInactiveSubscriptionIsCompletedBeforeItIsActivated() {
        let body = #"{"upstream":"demo","mode":"MERGE","active":false}"#
        let made = fixture.perform("POST", "/v1/subscriptions", body)
        #expect(made.status == 201)
        #expect(made.json["items"] == .null && made.json["fields"] == .null)
        let path = made.headers["Location"] ?? ""
        let missing = fixture.perform("POST", path + "/subscribe")
        #expect(missing.status == 422 && missing.pointers == ["/items", "/fields"])
        #expect(fixture.perform("PATCH", path, #"{"items":["i1"],"fields":["f1"]}"#).status == 200)
        #expect(fixture.perform("POST", path + "/subscribe").status == 202)
        let both = #"{"upstream":"demo","mode":"MERGE","active":false,"items":["a"],"itemGroup":"g"}"#
        #expect(fixture.perform("POST", "/v1/subscriptions", both).status == 422)
        #expect(fixture.perform("POST", "/v1/subscriptions", #"{"upstream":"demo","mode":"MERGE"}"#).status == 422)
    }

    @Test func aSubscriptionShowsItsLifeWhichARequestMayShorten() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription(#","ttl":30"#)
        let shown = fixture.perform("GET", path)
        #expect(shown.json["ttl"] == 30)
        #expect((29...30).contains(shown.json["expiresIn"]?.number?.doubleValue ?? 0))
        let changed = fixture.perform("PATCH", path, #"{"ttl":null}"#)
        #expect(changed.json["ttl"] == 600)
        #expect(changed.headers["ETag"] != shown.headers["ETag"])
        for ttl in ["0", "-1", "601", "\"30\""] {
            #expect(fixture.perform("PATCH", path, "{\"ttl\":\(ttl)}").pointers == ["/ttl"])
            let body = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["b"],"ttl":\#(ttl)}"#
            #expect(fixture.perform("POST", "/v1/subscriptions", body).pointers == ["/ttl"])
        }
    }

    @Test func unsubscribingWhatIsInactiveIsNoError() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription()
        #expect(fixture.perform("POST", path + "/unsubscribe").status == 202)
    }

    @Test func valuesOfAnInactiveSubscriptionAreNull() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription() + "/values"
        #expect(fixture.perform("GET", path + "/i1/f1").json["value"]?.isNull == true)
        #expect(fixture.perform("GET", path + "/1/1").status == 200)
        #expect(fixture.perform("GET", path + "/i1/f1", "", ["Accept": "text/plain"]).status == 204)
        #expect(fixture.perform("GET", path + "/i9/f1").code == "unknown-item")
        #expect(fixture.perform("GET", path + "/i1/f9").code == "unknown-field")
        #expect(fixture.perform("GET", path + "/i1/2").code == "unknown-field")
        #expect(fixture.perform("GET", path + "/i1/keys/k").code == "not-command-mode")
        #expect(fixture.perform("GET", path + "?item=i1&field=f1").status == 200)
        #expect(fixture.perform("GET", path + "?itemPos=1&fieldPos=2").code == "unknown-field")
        #expect(fixture.perform("GET", path + "?field=f1").code == "unknown-item")
        #expect(fixture.perform("GET", path + "?item=i1&key=k").code == "not-command-mode")
    }

    @Test func theFormsOfAValueHaveDifferentTags() throws {
        let path = "/v1/subscriptions/" + fixture.makeSubscription() + "/values/i1/f1"
        let json = try #require(fixture.perform("GET", path).headers["ETag"])
        let text = try #require(fixture.perform("GET", path, "", ["Accept": "text/plain"]).headers["ETag"])
        #expect(json != text)
        for (tag, statuses) in [(json, [304, 204]), (text, [200, 304])] {
            let found = ["application/json", "text/plain"].map { type in
                fixture.perform("GET", path, "", ["Accept": type, "If-None-Match": tag]).status
            }
            #expect(found == statuses)
        }
    }

    @Test func theTagOfValuesIsHonoured() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription() + "/values"
        let tag = fixture.perform("GET", path).headers["ETag"] ?? ""
        #expect(fixture.perform("GET", path, "", ["If-None-Match": tag]).status == 304)
        let poll = fixture.perform("GET", path, "", ["If-None-Match": tag, "Prefer": "wait=30"])
        #expect(poll.isWaiting)
        let other = fixture.perform("GET", path, "", ["If-None-Match": "\"x\"", "Prefer": "wait=30"])
        #expect(other.status == 200)
        #expect(other.headers["Preference-Applied"] == "wait=30")
    }

    @Test(arguments: ["requestedMaxFrequency", "requestedBufferSize", "requestedSnapshot"])
    func aNumberBeyondTheGreatestIsRefusedWithTheBound(name: String) {
        let properties = #""upstream":"demo","mode":"DISTINCT","items":["i1"],"fields":["f1"],"active":false"#
        let body = #"{\#(properties),"\#(name)":1000000001}"#
        let refused = fixture.perform("POST", "/v1/subscriptions", body)
        #expect(refused.status == 422)
        #expect(refused.pointers == ["/\(name)"])
        #expect(refused.json["detail"]?.string?.contains(" 1000000000") == true)
    }

    @Test func aTimeoutOfAMessageBeyondTheGreatestIsRefusedWithTheBound() {
        let refused = fixture.perform("POST", "/v1/messages", #"{"text":"a","sequence":"s","delayTimeout":1000000001}"#)
        #expect(refused.status == 422)
        #expect(refused.pointers.first == "/delayTimeout")
        #expect(refused.json["detail"]?.string?.contains(" 1000000000") == true)
    }

    /// Tags of values are weak, and `If-Match` compares strongly.
    @Test(arguments: ["", "/i1", "/i1/f1"])
    func valuesMatchNoTagOfIfMatchButTheAsterisk(part: String) {
        let path = "/v1/subscriptions/" + fixture.makeSubscription() + "/values" + part
        let tag = fixture.perform("GET", path).headers["ETag"] ?? ""
        for accept in part == "/i1/f1" ? ["application/json", "text/plain"] : ["application/json"] {
            let refused = fixture.perform("GET", path, "", ["If-Match": tag, "Accept": accept])
            #expect(refused.status == 412)
            #expect(refused.code == "precondition-failed")
            #expect((200...204).contains(fixture.perform("GET", path, "", ["If-Match": "*", "Accept": accept]).status))
        }
        #expect(fixture.perform("GET", path, "", ["If-Match": "*", "If-None-Match": tag]).status == 304)
        let poll = ["If-Match": tag, "If-None-Match": tag, "Prefer": "wait=30"]
        #expect(fixture.perform("GET", path, "", poll).status == 412)
    }

    @Test func notModifiedHasTheLengthOfTheFullResponse() {
        let path = "/v1/subscriptions/" + fixture.makeSubscription() + "/values"
        for part in ["", "/i1", "/i1/f1"] {
            let full = fixture.perform("GET", path + part)
            let tag = full.headers["ETag"] ?? ""
            for _ in 0..<2 {
                let same = fixture.perform("GET", path + part, "", ["If-None-Match": tag])
                #expect(same.status == 304)
                #expect(same.length == full.bytes.count)
                #expect(same.headers["ETag"] == tag)
            }
        }
    }

    @Test func aLongPollEndsWithTheStop() async {
        let path = "/v1/subscriptions/" + fixture.makeSubscription() + "/values"
        let tag = fixture.perform("GET", path).headers["ETag"] ?? ""
        let fixture = fixture
        let status = await withCheckedContinuation { continuation in
            let poll = fixture.perform("GET", path, "", ["If-None-Match": tag, "Prefer": "wait=30"]) { response in
                continuation.resume(returning: response.status)
            }
            #expect(poll.isWaiting)
            fixture.host.stopAccepting()
        }
        #expect(status == 304)
    }

    @Test func aLongPollEndsWithItsSubscription() async {
        let subscription = "/v1/subscriptions/" + fixture.makeSubscription()
        let tag = fixture.perform("GET", subscription + "/values").headers["ETag"] ?? ""
        let waiting = ["If-None-Match": tag, "Prefer": "wait=30"]
        let fixture = fixture
        let status = await withCheckedContinuation { continuation in
            let poll = fixture.perform("GET", subscription + "/values", "", waiting) { response in
                continuation.resume(returning: response.status)
            }
            #expect(poll.isWaiting)
            #expect(fixture.perform("DELETE", subscription).status == 204)
        }
        #expect(status == 404)
    }

    @Test(arguments: [("PATCH", "", #"{"items":["i2"]}"#, 200), ("POST", "/subscribe", "", 202)])
    func aLongPollEndsWithAChangeOfAnInactiveSubscription(_ method: String, path: String, body: String, status: Int)
        async
    {
        let subscription = "/v1/subscriptions/" + fixture.makeSubscription()
        let tag = fixture.perform("GET", subscription + "/values").headers["ETag"] ?? ""
        let ended = await awaited(subscription + "/values", tag) {
            #expect(fixture.perform(method, subscription + path, body).status == status)
        }
        #expect(ended.status == 200 && ended.headers["ETag"] != tag)
    }

    @Test(arguments: ["", "/i1", "/i1/f1"]) func aLongPollEndsWhenTheConnectionChanges(part: String) async throws {
        let subscription = "/v1/subscriptions/" + fixture.makeSubscription()
        #expect(fixture.perform("POST", subscription + "/subscribe").status == 202)
        let client = try #require(fixture.services.pool.resources().first?.client)
        let tag = fixture.perform("GET", subscription + "/values" + part).headers["ETag"] ?? ""
        var changes: Task<Void, Never>?
        let ended = await awaited(subscription + "/values" + part, tag) {
            // Again and again, because the client without a server reports its status as well.
            changes = Task {
                while !Task.isCancelled {
                    client.client(client.core, emitted: .status(.connectedWSStreaming))
                    await Task.yield()
                }
            }
        }
        changes?.cancel()
        #expect(ended.status == 200 && ended.headers["ETag"] != tag)
    }

    @Test func aLongPollForManyValuesIsAnsweredOnTheBackgroundQueue() async {
        let items = (1...200).map { "\"item\($0)\"" }.joined(separator: ",")
        let body = #"{"upstream":"demo","mode":"MERGE","items":[\#(items)],"fields":["f1"],"active":false}"#
        let subscription = fixture.perform("POST", "/v1/subscriptions", body).headers["Location"] ?? ""
        let tag = fixture.perform("GET", subscription + "/values").headers["ETag"] ?? ""
        let (order, source) = AsyncStream.makeStream(of: String.self)
        let waiting = ["If-None-Match": tag, "Prefer": "wait=20"]
        let poll = fixture.perform("GET", subscription + "/values", "", waiting) { _ in source.yield("response") }
        #expect(poll.isWaiting)
        let gate = DispatchSemaphore(value: 0)
        let isAdded = fixture.services.background.medium.add {
            gate.wait()
            source.yield("other work")
        }
        #expect(isAdded)
        #expect(fixture.perform("POST", subscription + "/subscribe").status == 202)
        gate.signal()
        var names: [String] = []
        for await name in order {
            names.append(name)
            if names.count == 2 { break }
        }
        #expect(names == ["other work", "response"])
    }

    /// The response to a request that waits for other values, or the first one if it does not wait.
    private func awaited(_ target: String, _ tag: String, _ meanwhile: () -> Void) async -> Fixture.Outcome {
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        let waiting = ["If-None-Match": tag, "Prefer": "wait=20"]
        let outcome = fixture.perform("GET", target, "", waiting) { source.yield($0) }
        #expect(outcome.isWaiting)
        meanwhile()
        for await response in responses { return Fixture.outcome(response) }
        return outcome
    }

    /// The upstream cannot be reached, so that the subscription stays active and not subscribed.
    @Test(arguments: [("POST", "/unsubscribe", 202, 202), ("DELETE", "", 204, 404)])
    func aRequestThatWaitsForASubscriptionEndsWithIt(method: String, path: String, status: Int, end: Int) async {
        let subscription = "/v1/subscriptions/" + fixture.makeSubscription()
        let fixture = fixture
        let ended = await withCheckedContinuation { continuation in
            let waiting = fixture.perform("POST", subscription + "/subscribe", "", ["Prefer": "wait=300"]) { response in
                continuation.resume(returning: response.status)
            }
            #expect(waiting.isWaiting)
            #expect(fixture.perform(method, subscription + path).status == status)
        }
        #expect(ended == end)
    }
}
