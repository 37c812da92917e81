import LightstreamerClient
import SessionCore
import Testing

@testable import Gateway

@Suite struct OptionsPatchTests {
    private func patched(_ text: String, _ values: ConnectionOptionValues = .init()) throws -> ConnectionOptionValues {
        let reader = try reader(text)
        let patch = OptionsPatch(reader, defaults: ConnectionOptionValues())
        try reader.refusals.finish()
        var values = values
        patch.apply(to: &values)
        return values
    }

    @Test func eachOptionIsReadInItsForms() throws {
        let values = try patched(
            """
            {"connectTimeout":"3.5","retryDelay":4,"contentLength":1e6,"forcedTransport":"WS",
             "requestedMaxBandwidth":"UNLIMITED","slowingEnabled":false,"idleTimeout":0}
            """
        )
        #expect(values.connectTimeout == .seconds(3.5))
        #expect(values.retryDelay == 4)
        #expect(values.contentLength == 1_000_000)
        #expect(values.forcedTransport == .ws)
        #expect(values.requestedMaxBandwidth == .unlimited)
        #expect(!values.slowingEnabled)
        #expect(values.idleTimeout == 0)
    }

    @Test func nullRestoresTheDefault() throws {
        var changed = ConnectionOptionValues()
        changed.retryDelay = 9
        changed.forcedTransport = .http
        let values = try patched(#"{"retryDelay":null,"forcedTransport":null}"#, changed)
        #expect(values.retryDelay == 2)
        #expect(values.forcedTransport == nil)
    }

    @Test func headersMergeByName() throws {
        var changed = ConnectionOptionValues()
        changed.httpExtraHeaders = ["X-A": "1", "X-B": "2"]
        let values = try patched(#"{"httpExtraHeaders":{"x-a":"3","X-B":null,"X-C":"4"}}"#, changed)
        #expect(values.httpExtraHeaders == ["x-a": "3", "X-C": "4"])
        #expect(try patched(#"{"httpExtraHeaders":null}"#, changed).httpExtraHeaders == nil)
    }

    @Test(arguments: [
        #"{"retryDelay":0}"#, #"{"retryDelay":"2"}"#, #"{"retryDelay":1e300}"#, #"{"idleTimeout":-1}"#,
        #"{"contentLength":0}"#, #"{"contentLength":1.5}"#, #"{"forcedTransport":"ws"}"#, #"{"slowingEnabled":1}"#,
        #"{"requestedMaxBandwidth":0}"#, #"{"connectTimeout":"AUTO"}"#, #"{"realMaxBandwidth":1}"#, #"{"x":1}"#,
        #"{"httpExtraHeaders":{"Cookie":"a"}}"#, #"{"httpExtraHeaders":{"X":"a\r\nb"}}"#, #"{"httpExtraHeaders":[]}"#,
        #"{"httpExtraHeaders":{"X":1}}"#,
    ])
    func aBadValueIsRefused(text: String) {
        #expect { try patched(text) } throws: { ($0 as? Problem)?.code.status == 422 }
    }

    /// The options of a new client are a member of the body, so the pointer has to lead through this member.
    @Test func headersThatAreTooLargeTogetherAreRefusedAtTheirPlace() throws {
        let half = String(repeating: "a", count: 9000)
        let reader = try reader(#"{"options":{"httpExtraHeaders":{"X-A":"\#(half)","X-B":"\#(half)"}}}"#)
        _ = reader.object("options").map { OptionsPatch($0, defaults: ConnectionOptionValues()) }
        #expect(reader.refusals.pointers == ["/options/httpExtraHeaders"])
    }

    @Test func everyRefusalHasAnEntry() throws {
        let reader = try reader(#"{"retryDelay":0,"stalledTimeout":false,"nothing":1}"#)
        _ = OptionsPatch(reader, defaults: ConnectionOptionValues())
        #expect(Set(reader.refusals.pointers) == ["/retryDelay", "/stalledTimeout", "/nothing"])
    }
}
