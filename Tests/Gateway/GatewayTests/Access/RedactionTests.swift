import MicroHTTPD
import SessionPool
import Testing

@testable import Gateway

/// Secrets from headers, queries and the configuration do not appear in any output.
@Suite struct RedactionTests {
    @Test func logsAndAnswersHoldNoSecret() async throws {
        let log = LogRecorder()
        let fixture = try await AccessFixture(logger: log.logger)
        let client = fixture.makeClient(as: AccessFixture.admin)
        let password = #"{"password":"client-password"}"#
        var answers: [Fixture.Outcome] = [
            fixture.perform("PATCH", "/v1/clients/\(client)/details", as: AccessFixture.admin, password)
        ]
        for target in [
            "/v1/upstreams", "/v1/upstreams/demo", "/v1/clients", "/v1/clients/\(client)",
            "/v1/clients/\(client)/details",
            "/v1/clients/\(client)/options", "/health", "/v1/streams", "/v1/clients?access_token=lsg_admin",
            "/v1/stream?subscription=x&ticket=lst_secret", "/nothing?q=query-secret",
        ] {
            answers.append(fixture.perform("GET", target, as: AccessFixture.admin))
            answers.append(fixture.perform("GET", target, as: "lsg_guessed"))
            answers.append(fixture.perform("GET", target, "", [HTTPField("Cookie", "gateway_token=lsg_cookie")]))
        }
        #expect(!log.lines.isEmpty)
        let texts = log.lines + answers.map { "\($0.headers.lines) \($0.text)" }
        for secret in [
            "upstream-password", "client-password", "lsg_admin", "lsg_guessed", "lsg_cookie", "lst_secret",
            "query-secret",
        ] {
            #expect(!texts.contains { $0.contains(secret) }, "\(secret)")
        }
    }

    @Test func mistakesInAConfigurationDoNotShowSecrets() {
        var reader = ConfigurationReader(
            flags: [("auth.jwt.secret", "short-secret"), ("auth.keys.a.hash", "plain-secret-key")],
            environment: [:]
        )
        do {
            _ = try reader.read()
            Issue.record("the configuration was taken")
        } catch {
            #expect(error.mistakes.count >= 2)
            #expect(!"\(error)".contains("short-secret") && !"\(error)".contains("plain-secret-key"))
        }
    }
}
