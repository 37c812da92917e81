import JSONText
import LightstreamerClient
import SessionCore
import Synchronization
import Testing

@testable import GatewayCLI

@Suite struct WatchOutputTests {
    private final class Recorder: WatchDisplay {
        let events = Mutex<[WatchEvent]>([])
        private let hasReader: Bool
        init(hasReader: Bool = true) { self.hasReader = hasReader }
        func show(_ event: WatchEvent) -> Bool {
            events.withLock { $0.append(event) }
            return hasReader
        }
    }

    private let update = WatchUpdate(
        item: "item1",
        key: "k",
        command: "ADD",
        isSnapshot: true,
        fields: [.init(name: "price", value: "1"), .init(name: "note", value: nil)]
    )

    @Test(arguments: [
        (#"{"active":false,"lastError":{"code":61,"message":"Removed by the server"}}"#, WatchFailure.removal),
        (#"{"active":false,"lastError":{"code":17,"message":"x"}}"#, .subscriptionError(17, "x")),
        (#"{"active":true,"lastError":{"code":61,"message":""}}"#, nil), (#"{"active":false,"lastError":null}"#, nil),
        ("{}", nil),
    ])
    func theEndOfASubscriptionIsKnownFromItsState(state: String, failure: WatchFailure?) throws {
        #expect(WatchFailure.end(of: try JSONValue(parsing: state)) == failure)
    }

    @Test(arguments: [
        ("subscribed", "{}", true), ("stream", #"{"sources":[{"subscribed":true}]}"#, true),
        ("stream", #"{"sources":[{"subscribed":false}]}"#, false), ("server-error", "{}", false),
    ])
    func aSubscribedSourceIsKnownFromItsEvents(name: String, content: String, isSubscribed: Bool) {
        #expect(WatchEvent.other(name: name, content: content).isOfSubscribedSource == isSubscribed)
        #expect(WatchEvent.update(update).isOfSubscribedSource && !WatchEvent.status("CONNECTED").isOfSubscribedSource)
    }

    @Test func anUpdateIsOneLine() {
        #expect(LineDisplay.line(update) == "item1 k ADD (snapshot) price=1 note=null")
    }

    @Test func anEventIsOneLineOfJSON() throws {
        let json = try JSONValue(parsing: JSONDisplay.line(.update(update)))
        #expect(json["event"]?.string == "update")
        #expect(json["data"]?["fields"]?["price"]?.string == "1")
        #expect(json["data"]?["fields"]?["note"]?.isNull == true)
        #expect(json["data"]?["key"]?.string == "k")
        let status = try JSONValue(parsing: JSONDisplay.line(.status("DISCONNECTED")))
        #expect(status["data"]?["status"]?.string == "DISCONNECTED")
        let other = try JSONValue(
            parsing: JSONDisplay.line(.other(name: "closing", content: #"{"reason":"shutdown"}"#))
        )
        #expect(other["data"]?["reason"]?.string == "shutdown")
    }

    @Test func nothingIsShownBehindTheLastUpdate() {
        let recorder = Recorder()
        let output = WatchOutput(display: recorder, limit: 2)
        #expect(!output.show(.status("CONNECTED")))
        #expect(!output.show(.update(update)))
        #expect(output.show(.update(update)))
        #expect(output.show(.update(update)))
        #expect(recorder.events.withLock { $0.count } == 3)
    }

    @Test func aReaderThatHasGoneEndsTheOutput() {
        let output = WatchOutput(display: Recorder(hasReader: false), limit: nil)
        #expect(output.show(.update(update)))
        #expect(output.show(.status("CONNECTED")))
    }

    @Test(arguments: [7, 10, 32, 33, 40, 61, 68])
    func anErrorOfTheSessionThatMayPassIsShown(code: Int) throws {
        let recorder = Recorder()
        let output = WatchOutput(display: recorder, limit: nil)
        let refusal = UpstreamRefusal(code: code, message: "x")
        #expect(try !output.sessionEnded(refusal, ["code": 7], once: false))
        let sentence = "\(WatchFailure.serverError(code, "x").sentence) Trying again."
        let shown: [WatchEvent] = [
            .other(name: "server-error", content: #"{"code":7}"#), .status("DISCONNECTED", failure: sentence),
        ]
        #expect(recorder.events.withLock { $0 } == shown)
        #expect(throws: WatchFailure.serverError(code, "x")) {
            try output.sessionEnded(refusal, [:], once: true)
        }
    }

    @Test(arguments: [-3, 0, 1, 2, 11, 60, 62, 70, 71])
    func anErrorOfTheSessionThatLastsIsTheEnd(code: Int) {
        let output = WatchOutput(display: Recorder(), limit: nil)
        #expect(throws: WatchFailure.serverError(code, "x")) {
            try output.sessionEnded(UpstreamRefusal(code: code, message: "x"), [:], once: false)
        }
    }

    @Test func errorCodesAreExplained() {
        #expect(
            WatchFailure.subscriptionError(17, "").sentence
                == "The server refused the subscription with code 17. The data adapter does not exist in this adapter set. "
                + "Set dataAdapter to a name of the adapter set; it is case-sensitive."
        )
        #expect(
            WatchFailure.serverError(2, "unknown set").sentence
                == "The server refused or closed the session with code 2: \"unknown set\". "
                + "The adapter set does not exist on the server. Correct --adapter-set; the name is case-sensitive."
        )
        #expect(WatchFailure.subscriptionError(99, "strange").sentence.hasSuffix("with code 99: \"strange\"."))
    }

    /// They were refusals of the server.
    @Test func refusalsOfTheGatewayAreNoneOfTheServer() {
        #expect(
            WatchFailure.subscriptionError(1000, "Too much").sentence
                .hasPrefix("The gateway refused the subscription with code 1000: \"Too much\". ")
        )
        let limit = "The upstream \"demo\" admits 1 subscription (upstreams.demo.maxSubscriptions)."
        #expect(WatchFailure.subscriptionError(1001, limit).sentence == limit)
    }

    @Test func problemsAreSentences() {
        let problem = #"{"title":"Unknown upstream","detail":"No upstream is called \"x\".","status":404}"#
        #expect(ProblemText.sentence(status: 404, problem) == "Unknown upstream (404): No upstream is called \"x\".")
        let unknown = #"{"title":"Credentials are required","detail":"The key or token is unknown."}"#
        #expect(
            ProblemText.sentence(status: 401, unknown)
                == "Credentials are required (401): The key or token is unknown. "
                + "The environment variable GATEWAY_TOKEN holds the key or token."
        )
        #expect(ProblemText.sentence(status: 502, "<html>\nBad") == "status 502, <html>Bad")
        #expect(ProblemText.sentence(status: 502, "") == "status 502.")
        // Text of a server must not control the terminal.
        #expect(ProblemText.sentence(status: 502, "\u{1B}[2Jx\r\n") == "status 502, \u{FFFD}[2Jx")
    }
}
