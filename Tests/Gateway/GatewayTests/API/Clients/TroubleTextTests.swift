import Primitives
import SessionCore
import SessionPool
import Testing

@testable import Gateway

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

    @Test func codeOfTheServerHasMeaningAndCure() {
        let refusal = UpstreamRefusal(code: 2, message: "Requested Adapter Set not available")
        let text = TroubleText.sentence(refusal, upstream: "demo")
        #expect(text.hasPrefix("The server responded with 2: Requested Adapter Set not available."))
        #expect(text.contains("The adapter set does not exist on the server."))
        #expect(text.contains("Correct upstreams.demo.adapterSet"))
    }

    @Test func clientsTellWhyTheyAreNotConnected() throws {
        let fixture = Fixture()
        let client = fixture.makeClient()
        let outcome = fixture.perform("GET", "/v1/clients/\(client)")
        #expect(outcome.json["lastFailure"]?.isNull == true)
        #expect(fixture.perform("GET", "/v1/upstreams/demo").json["lastFailure"]?.isNull == true)
    }
}
