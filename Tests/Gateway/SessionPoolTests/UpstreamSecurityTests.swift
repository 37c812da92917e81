import LightstreamerClient
import Testing

@testable import SessionPool

@Suite struct UpstreamSecurityTests {
    @Test func clientsOfAnUpstreamHaveItsTLSProxyAndCredentials() {
        var upstream = UpstreamConfiguration(name: "a", serverAddress: "https://push.example.com:8443/path")
        upstream.tls.trust = .pem("authority")
        upstream.proxy = ProxySettings(host: "proxy.example.com", port: 3128)
        upstream.httpCredentials = HTTPCredentials(user: "u", password: "p")
        var configuration = ClientConfiguration()
        upstream.apply(to: &configuration)
        #expect(configuration.tls == upstream.tls)
        #expect(configuration.proxy == upstream.proxy)
        #expect(configuration.httpCredentials == HTTPCredentials(user: "u", password: "p", host: "push.example.com"))
    }
}
