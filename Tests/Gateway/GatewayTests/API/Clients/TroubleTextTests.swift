import JSONText
import Primitives
import SessionCore
import SessionPool
import Testing

@testable import Gateway
@testable import LightstreamerClient

@Suite struct TroubleTextTests {
    @Test(arguments: FailureKind.allCases)
    func everyKindHasCauseAndCure(kind: FailureKind) {
        let text = TroubleText.sentence(kind, address: "http://a:1", settings: "upstreams.demo")
        #expect(text.contains("http://a:1"))
        #expect(text.hasSuffix("."))
        let plain: Set<FailureKind> = [.serverError, .other]
        #expect(plain.contains(kind) || text.split(separator: ".").count > 1, "\(text)")
    }

    @Test func refusedConnectionNamesTheSetting() {
        #expect(
            TroubleText.sentence(.refused, address: "http://a:1", settings: "upstreams.demo")
                == "Nothing accepts connections at http://a:1. Start the Lightstreamer server, or correct "
                + "upstreams.demo.serverAddress."
        )
    }

    @Test(arguments: [FailureKind.refused, .unreachable, .nameNotFound, .timeout, .certificateName, .notFound])
    func controlLinkIsNamedInPlaceOfTheSetting(kind: FailureKind) {
        let text = TroubleText.sentence(kind, address: "http://a:1", isControlLink: true, settings: "upstreams.demo")
        #expect(text.contains("http://a:1 (the control link of the server)"))
        #expect(text.contains("that link, or set upstreams.demo.options.serverInstanceAddressIgnored"))
        #expect(!text.contains("upstreams.demo.serverAddress"))
    }

    @Test func codeOfTheServerHasMeaningAndCure() {
        let refusal = UpstreamRefusal(code: 2, message: "Requested Adapter Set not available")
        let text = TroubleText.sentence(refusal, upstream: "demo")
        #expect(text.hasPrefix("The server responded with 2: Requested Adapter Set not available."))
        #expect(text.contains("The adapter set does not exist on the server."))
        #expect(text.contains("Correct upstreams.demo.adapterSet"))
    }

    /// As of a client by address, whose user is no setting.
    @Test(arguments: [(1, "Correct"), (-5, "Check")])
    func wrongCredentialsNameSettingsOfUpstreamsOnly(code: Int, verb: String) {
        let refusal = UpstreamRefusal(code: code, message: "No")
        let configured = TroubleText.sentence(refusal, upstream: "demo")
        #expect(configured.contains("\(verb) upstreams.demo.user and its password"))
        let text = TroubleText.sentence(refusal)
        #expect(text.contains("\(verb) user and its password"))
        #expect(!text.contains("SIGHUP") && !text.contains("configuration"))
    }

    @Test func clientsTellWhyTheyAreNotConnected() throws {
        let fixture = Fixture()
        let client = fixture.makeClient()
        let outcome = fixture.perform("GET", "/v1/clients/\(client)")
        #expect(outcome.json["lastFailure"]?.isNull == true)
        #expect(fixture.perform("GET", "/v1/upstreams/demo").json["lastFailure"]?.isNull == true)
    }

    @Test func addressIsTheOneThatFailed() throws {
        let fixture = Fixture()
        let id = fixture.makeClient()
        let client = try #require(fixture.services.pool.clients().first)
        func shown() -> JSONValue? { fixture.perform("GET", "/v1/clients/\(id)").json["lastFailure"] }
        func fail() {
            client.core.core.state.withLock { $0.attempt.failed(.refused) }
            client.client(client.core, emitted: .status(.disconnectedWillRetry))
        }
        fail()
        client.core.core.state.withLock { $0.details.serverAddress = "http://127.0.0.1:10" }
        #expect(shown()?["detail"]?.string?.contains("http://127.0.0.1:9.") == true)
        fail()
        #expect(shown()?["detail"]?.string?.contains("http://127.0.0.1:10.") == true)
        #expect(shown()?["attempts"] == 1)
        client.core.core.state.withLock {
            $0.attempt.began(at: "http://127.0.0.1:11", createsSession: false, setting: $0.details.serverAddress)
        }
        fail()
        #expect(shown()?["detail"]?.string?.contains("http://127.0.0.1:11 (the control link of the server).") == true)
        #expect(shown()?["attempts"] == 1)
    }
}
