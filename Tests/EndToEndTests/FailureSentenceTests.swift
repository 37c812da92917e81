internal import Foundation
internal import JSONText
internal import SessionCore
internal import Testing

/// Each failure of a connection, caused by a real listener, with its sentence in all places that show it.
@Suite struct FailureSentenceTests {
    /// A failure.
    struct Failure: Sendable, CustomTestStringConvertible {
        let name: String
        var scheme = "http"
        var host = "localhost"
        var server = BadServer.Behaviour.silence
        /// The certificate of the listener; nil: it does not speak TLS.
        var certificate: String?
        /// Whether the configuration of the upstream trusts the authority of the certificates.
        var isTrusted = false
        /// Whether the listener is the HTTP proxy of an upstream at another address.
        var isProxy = false
        let reason: String
        var code: Int?
        /// The sentences; ADDRESS stands for the address, SETTINGS for the beginning of the keys of the upstream.
        let sentence: String

        var testDescription: String { name }
    }

    private static func http(_ status: String, _ body: String = "<html>It works!</html>\n") -> BadServer.Behaviour {
        .response("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
    }

    private static let correct = "correct SETTINGS.serverAddress."

    private static let connections = [
        Failure(
            name: "connection refused",
            server: .absence,
            reason: "refused",
            sentence: "Nothing accepts connections at ADDRESS. Start the Lightstreamer server, or \(correct)"
        ),
        Failure(
            name: "unknown name",
            host: "name.invalid",
            reason: "name-not-found",
            sentence: "The host name of ADDRESS is unknown. Correct SETTINGS.serverAddress, or check the name server."
        ),
        Failure(
            name: "silence",
            reason: "timeout",
            sentence: "ADDRESS does not respond. Check the firewalls on the way, or set SETTINGS.proxy.address."
        ),
        Failure(
            name: "closed",
            server: .response(""),
            reason: "closed",
            sentence: "ADDRESS closed the connection. The server's log has the reason. If it speaks TLS on this port, "
                + "use https in SETTINGS.serverAddress."
        ),
        Failure(
            name: "proxy",
            scheme: "https",
            server: http("403 Forbidden"),
            isProxy: true,
            reason: "proxy",
            code: 403,
            sentence: "The HTTP proxy does not connect to ADDRESS: HTTP status 403. Check SETTINGS.proxy.address."
        ),
        Failure(
            name: "proxy that is not there",
            server: .absence,
            isProxy: true,
            reason: "proxy",
            sentence: "The HTTP proxy does not connect to ADDRESS. Check SETTINGS.proxy.address."
        ),
        Failure(
            name: "proxy credentials",
            server: http("407 Proxy Authentication Required"),
            isProxy: true,
            reason: "proxy",
            code: 407,
            sentence: "The HTTP proxy requires credentials for ADDRESS, or refuses them: HTTP status 407. Set "
                + "SETTINGS.proxy.user and SETTINGS.proxy.password."
        ),
    ]

    private static let security = [
        Failure(
            name: "another name",
            scheme: "https",
            certificate: ServerCertificates.otherName,
            isTrusted: true,
            reason: "certificate-name",
            sentence: "The certificate of ADDRESS is for another name. Use the name of the certificate in "
                + "SETTINGS.serverAddress."
        ),
        Failure(
            name: "expired",
            scheme: "https",
            certificate: ServerCertificates.expired,
            isTrusted: true,
            reason: "certificate-expired",
            sentence: "The certificate of ADDRESS, or of its authority, has expired. Renew it on the server."
        ),
        Failure(
            name: "not yet valid",
            scheme: "https",
            certificate: ServerCertificates.notYetValid,
            isTrusted: true,
            reason: "certificate-not-yet-valid",
            sentence: "The certificate of ADDRESS, or of its authority, is not valid yet. Check the clocks of both "
                + "machines."
        ),
        Failure(
            name: "unknown authority",
            scheme: "https",
            certificate: ServerCertificates.valid,
            reason: "certificate-authority",
            sentence: "The authority that issued the certificate of ADDRESS is not trusted. Name it in SETTINGS.tls.ca."
        ),
        Failure(
            name: "no TLS on the port",
            scheme: "https",
            server: http("400 Bad Request"),
            reason: "plain-text",
            sentence: "ADDRESS does not speak TLS on this port. Use http, or the port for TLS, in "
                + "SETTINGS.serverAddress."
        ),
        Failure(
            name: "TLS on the port",
            server: .response("\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}F"),
            reason: "encrypted",
            sentence: "ADDRESS speaks TLS on this port. Use https in SETTINGS.serverAddress."
        ),
        Failure(
            name: "request without TLS",
            server: http("400 Bad Request"),
            reason: "http-status",
            code: 400,
            sentence: "ADDRESS responds with an HTTP error: HTTP status 400. Check the server and the proxies in front "
                + "of it. If it speaks TLS on this port, use https in SETTINGS.serverAddress."
        ),
    ]

    private static let responses = [
        Failure(
            name: "401",
            server: http("401 Unauthorized"),
            reason: "unauthorized",
            code: 401,
            sentence: "ADDRESS requires HTTP credentials, or refuses them: HTTP status 401. Set SETTINGS.http.user and "
                + "SETTINGS.http.password."
        ),
        Failure(
            name: "403",
            server: http("403 Forbidden"),
            reason: "unauthorized",
            code: 403,
            sentence: "ADDRESS requires HTTP credentials, or refuses them: HTTP status 403. Set SETTINGS.http.user and "
                + "SETTINGS.http.password."
        ),
        Failure(
            name: "404",
            server: http("404 Not Found"),
            reason: "not-found",
            code: 404,
            sentence: "ADDRESS has no Lightstreamer server at this path: HTTP status 404. Correct "
                + "SETTINGS.serverAddress."
        ),
        Failure(
            name: "502",
            server: http("502 Bad Gateway"),
            reason: "http-status",
            code: 502,
            sentence: "ADDRESS responds with an HTTP error: HTTP status 502. Check the server and the proxies in front "
                + "of it."
        ),
        Failure(
            name: "no HTTP",
            server: .response("SSH-2.0-OpenSSH_9.2\r\n\r\n"),
            reason: "not-lightstreamer",
            sentence: "The response of ADDRESS is not that of a Lightstreamer server. Correct SETTINGS.serverAddress, "
                + "or check the proxies in front of the server."
        ),
        Failure(
            name: "no TLCP",
            server: http("200 OK"),
            reason: "not-lightstreamer",
            sentence: "The response of ADDRESS is not that of a Lightstreamer server. Correct SETTINGS.serverAddress, "
                + "or check the proxies in front of the server."
        ),
        Failure(
            name: "no content",
            server: http("200 OK", ""),
            reason: "not-lightstreamer",
            sentence: "The response of ADDRESS is not that of a Lightstreamer server. Correct SETTINGS.serverAddress, "
                + "or check the proxies in front of the server."
        ),
        Failure(
            name: "adapter set",
            server: http("200 OK", "CONERR,2,Requested Adapter Set not available\r\n"),
            reason: "server-error",
            code: 2,
            sentence:
                "The server responded with 2: Requested Adapter Set not available. The adapter set does not exist "
                + "on the server. Correct SETTINGS.adapterSet; the name is case-sensitive."
        ),
        Failure(
            name: "credentials cannot be checked now",
            server: http("200 OK", "CONERR,6,Metadata Adapter not available\r\n"),
            reason: "server-error",
            code: 6,
            sentence:
                "The server responded with 6: Metadata Adapter not available. The server cannot check credentials at the "
                + "moment. The gateway tries again. If it lasts, look at the adapter's log."
        ),
        Failure(
            name: "sessions",
            server: http("200 OK", "CONERR,7,Licensed maximum number of sessions reached\r\n"),
            reason: "server-error",
            code: 7,
            sentence:
                "The server responded with 7: Licensed maximum number of sessions reached. The licenced maximum of "
                + "sessions is reached. Close sessions, let the gateway share them (pooled clients), or extend the licence."
        ),
    ]

    @Test(arguments: connections + security + responses)
    func theSentenceOfAFailureIsInAllPlaces(failure: Failure) async throws {
        try await BadServer.run(failure.server, certificate: failure.certificate) { port in
            let address = "\(failure.scheme)://\(failure.host):\(failure.isProxy ? 1 : port)"
            let folder = try ProcessFolder()
            let file = try folder.write("gateway.yaml", Self.configuration(failure, address, port))
            let sentence = failure.sentence.replacing("ADDRESS", with: address)
            try await Self.serve(failure, file, sentence.replacing("SETTINGS", with: "upstreams.demo"))
            let check = try await Self.gateway("check", "--connect", "--config", file)
            #expect(check.status != 0)
            Self.expect(sentence.replacing("SETTINGS", with: "upstreams.demo"), in: check.output, "check")
            guard !failure.isTrusted, !failure.isProxy else { return }
            let watch = try await Self.gateway("watch", "--once", "--server", address, "item1", "a")
            #expect(watch.status == 1)
            // The first sentence has the cause; that of a server's code is the one of watch itself.
            let sentences = sentence.split(separator: ". ")
            let cause = try #require(failure.reason == "server-error" ? sentences.dropFirst().first : sentences.first)
            Self.expect(String(cause), in: watch.output, "watch of the server")
        }
    }

    /// Runs a gateway whose upstream fails, and reads its log, a stream, a client, the health and `watch`.
    private static func serve(_ failure: Failure, _ file: String, _ sentence: String) async throws {
        let process = try GatewayProcess(["serve", "--config", file])
        let url = try await process.address()
        var stream = try await EventStream(url + "/v1/stream?upstream=demo&items=item1&fields=a")
        if failure.code == 2 {
            // The gateway does not try again, and ends the stream.
            let error = try await stream.first("subscription-error")
            let detail = sentence.replacing("upstreams.demo.", with: "")
            Self.expect(detail, in: error["detail"]?.string, "stream")
        } else {
            let status = try await stream.first("status") { $0["status"]?.string?.hasPrefix("DISCONNECTED") == true }
            #expect(status["lastFailure", "reason"]?.string == failure.reason)
            #expect(status["lastFailure", "code"]?.number?.intValue == failure.code)
            #expect(status["lastFailure", "attempts"]?.number?.intValue == 1)
            Self.expect(sentence, in: status["lastFailure", "detail"]?.string, "stream")
        }
        let log = await process.log(with: "\"warning\"")
        Self.expect(sentence, in: (try? JSONValue(parsing: log ?? ""))?["message"]?.string ?? log, "log")
        let health = try await call("GET", url + "/health")
        let upstream = health["upstreams"]?.array?.first
        #expect(upstream?["lastFailure"]?["reason"]?.string == failure.reason, "\(health.text)")
        Self.expect(sentence, in: upstream?["lastFailure"]?["detail"]?.string, "health")
        let one = try await call("GET", url + "/v1/upstreams/demo")
        Self.expect(sentence, in: one["lastFailure", "detail"]?.string, "upstream")
        if failure.code != 2 {
            // A client whose session is refused for good is removed with its last subscription.
            let client = try await call("GET", url + "/v1/clients")["clients"]?.array?.first?["lastFailure"]
            #expect(client?["reason"]?.string == failure.reason)
            #expect(client?["code"]?.number?.intValue == failure.code)
            Self.expect(sentence, in: client?["detail"]?.string, "client")
        }
        let watch = try GatewayProcess(["watch", "--gateway", url, "item1", "a"])
        let line = await watch.log(with: failure.code == 2 ? "code 2" : "status DISCONNECTED")
        Self.expect(failure.code == 2 ? "The adapter set does not exist" : sentence, in: line, "watch of the gateway")
        await watch.stop()
        await process.stop()
    }

    private static func configuration(_ failure: Failure, _ address: String, _ port: Int) -> String {
        """
        http: {port: 0}
        log: {format: json}
        upstreams:
          demo:
            serverAddress: "\(address)"
            options: {connectTimeout: 1, retryDelay: 1}
            \(failure.isTrusted ? "tls: {ca: \(JSONValue.string(ServerCertificates.authority).text)}" : "")
            \(failure.isProxy ? "proxy: {address: \"127.0.0.1:\(port)\"}" : "")
        """
    }

    private static func gateway(_ arguments: String...) async throws -> (status: Int32, output: String) {
        try await run(GatewayProcess.binary("lightstreamer-gateway"), arguments)
    }

    /// The text has the sentence, nothing of a library's errors, and no path of the machine that built the program.
    private static func expect(_ sentence: String, in text: String?, _ place: String) {
        #expect(text?.contains(sentence) == true, "\(place): \(text ?? "nothing")")
        for raw in ["NIO", "SSL", "errno", "Error(", ".swift", ".build", "Sources/"] {
            #expect(text?.contains(raw) != true, "\(place): \(text ?? "")")
        }
    }
}
