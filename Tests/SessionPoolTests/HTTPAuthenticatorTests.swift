import LightstreamerClient
import Testing

@testable import SessionPool

@Suite struct HTTPAuthenticatorTests {
    private let authenticator = HTTPAuthenticator(
        HTTPCredentials(user: "u", password: "p"),
        for: "https://push.example.com"
    )

    private func answer(
        _ kind: AuthenticationChallenge.Kind = .server(schemes: ["Basic"], realm: nil),
        host: String = "push.example.com",
        port: Int = 443,
        failures: Int = 0
    ) -> AuthenticationChallenge.Answer {
        let challenge = AuthenticationChallenge(
            kind: kind,
            host: host,
            port: port,
            previousFailureCount: failures,
            handler: { _ in }
        )
        return authenticator.answer(to: challenge)
    }

    @Test func theServerReceivesTheCredentials() {
        #expect(answer() == .use(.password(user: "u", password: "p")))
        #expect(
            answer(.server(schemes: ["Negotiate", "basic"], realm: "x")) == .use(.password(user: "u", password: "p"))
        )
    }

    /// Credentials belong to the address that they are configured for.
    @Test func otherServersReceiveNothing() {
        #expect(answer(host: "other.example.com") == .performDefaultHandling)
        #expect(answer(port: 8443) == .performDefaultHandling)
        #expect(answer(.proxy(schemes: ["Basic"], realm: nil)) == .performDefaultHandling)
    }

    @Test func refusedCredentialsAreNotSentAgain() {
        #expect(answer(failures: 1) == .performDefaultHandling)
        #expect(answer(.server(schemes: ["Digest"], realm: nil)) == .performDefaultHandling)
        #expect(answer(.clientCertificate) == .performDefaultHandling)
    }
}
