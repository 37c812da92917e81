import Testing

@testable import Gateway

@Suite struct RouterTests {
    private let router = Router([
        Operation(.get, "/", "root", .open, [200]) { _ in .deferred },
        Operation(.get, "/v1/values/{item}/{field}", "field", .open, [200]) { _ in .deferred },
        Operation(.get, "/v1/values/{item}/keys", "keys", .open, [200]) { _ in .deferred },
        Operation(.post, "/v1/values", "make", .open, [201]) { _ in .deferred },
        Operation(.delete, "/v1/values/{item}/keys", "drop", .open, [204]) { _ in .deferred },
    ])

    private func name(_ method: String, _ raw: String) throws -> String? {
        guard case .operation(let operation, _) = router.find(method: method, path: try RequestPath(raw: raw)) else {
            return nil
        }
        return operation.name
    }

    @Test func aLiteralIsPreferredToAParameter() throws {
        #expect(try name("GET", "/v1/values/a/keys") == "keys")
        #expect(try name("GET", "/v1/values/keys/a") == "field")
        #expect(try name("GET", "/") == "root")
    }

    @Test func aParameterAsSecondSegmentIsFoundAmongPathsWithItsText() throws {
        let router = Router([
            Operation(.get, "/feeds/{feed}/values", "values", .open, [200]) { _ in .deferred },
            Operation(.get, "/feeds/all/names", "names", .open, [200]) { _ in .deferred },
        ])
        for (feed, name) in [("all", "names"), ("all", "values"), ("other", "values")] {
            let path = try RequestPath(raw: "/feeds/\(feed)/\(name)")
            guard case .operation(let found, _) = router.find(method: "GET", path: path) else {
                Issue.record("\(feed)/\(name) is not found")
                continue
            }
            #expect(found.name == name)
        }
    }

    @Test func parametersCarryDecodedSegments() throws {
        let path = try RequestPath(raw: "/v1/values/a%2Fb/%20")
        guard case .operation(_, let parameters) = router.find(method: "GET", path: path) else {
            Issue.record("not found")
            return
        }
        #expect(parameters["item"] == "a/b")
        #expect(parameters["field"] == " ")
        #expect(parameters["key"] == nil)
    }

    @Test func headIsFoundWhereGetIs() throws {
        #expect(try name("HEAD", "/v1/values/a/b") == "field")
        #expect(try name("HEAD", "/v1/values") == nil)
    }

    @Test func otherMethodReturnsAllowedOnes() throws {
        let path = try RequestPath(raw: "/v1/values/a/keys")
        guard case .methodNotAllowed(let allow) = router.find(method: "PUT", path: path) else {
            Issue.record("allowed")
            return
        }
        #expect(Set(allow) == ["GET", "HEAD", "DELETE", "OPTIONS"])
        guard case .options = router.find(method: "OPTIONS", path: path) else {
            Issue.record("no options")
            return
        }
    }

    @Test(arguments: ["/v2", "/v1/values//keys", "/v1", "/v1/values/a/b/c", "/v1/values/"])
    func anUnknownPathIsNotFound(raw: String) throws {
        guard case .notFound = router.find(method: "GET", path: try RequestPath(raw: raw)) else {
            Issue.record("found")
            return
        }
    }
}

@Suite struct RouterSuggestionTests {
    @Test(arguments: [
        ("/v1/value", "/v1/values"), ("/v1/values/", "/v1/values"), ("//v1/values", "/v1/values"),
        ("/values", "/v1/values"), ("/v1/valeus/a/keys", "/v1/values/{item}/keys"), ("/doc", "/docs"), ("/v2", nil),
        ("/v1/keys", nil), ("/", nil), ("/v1/values/a/b/c", nil), ("/v1/streams/", "/v1/streams"),
        ("/v1/upstreams/", "/v1/upstreams"), ("/v1/upstreams/a/stop/", "/v1/upstreams/{name}/stop"),
        ("/v1/docs", "/docs"), ("/v1/feeds/a/b", "/feeds/{feed}/{item}"), ("/v1", nil),
    ])
    func anUnknownPathHasTheNearestKnownOne(raw: String, suggestion: String?) throws {
        let router = Router([
            Operation(.post, "/v1/values", "make", .open, [201]) { _ in .deferred },
            Operation(.get, "/v1/values/{item}/keys", "keys", .open, [200]) { _ in .deferred },
            Operation(.get, "/docs", "docs", .open, [200]) { _ in .deferred },
            Operation(.get, "/feeds/{feed}/{item}", "item", .open, [200]) { _ in .deferred },
            Operation(.get, "/v1/stream", "stream", .open, [200]) { _ in .deferred },
            Operation(.get, "/v1/streams", "streams", .open, [200]) { _ in .deferred },
            Operation(.get, "/v1/upstreams", "upstreams", .open, [200]) { _ in .deferred },
            Operation(.post, "/v1/upstreams/{name}/step", "step", .open, [200]) { _ in .deferred },
            Operation(.post, "/v1/upstreams/{name}/stop", "stop", .open, [200]) { _ in .deferred },
        ])
        #expect(router.suggestion(for: try RequestPath(raw: raw)) == suggestion)
    }
}

@Suite struct RequestPathTests {
    @Test(arguments: [
        ("/", []),
        ("/v1/clients", ["v1", "clients"]),
        ("/v1/a%2Fb", ["v1", "a/b"]),
        ("/v1/a+b", ["v1", "a+b"]),
        ("/v1/%252F", ["v1", "%2F"]),
        ("/v1/", ["v1", ""]),
        ("/%00", ["\0"]),
        ("/%c3%A9", ["é"]),
    ])
    func segmentsAreSplitFirstAndDecodedOnce(raw: String, segments: [String]) throws {
        #expect(try RequestPath(raw: raw).segments == segments)
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%ff", "/%c3", "v1", "", "/a/%c0%af"])
    func undecodableTextIsMalformed(raw: String) {
        #expect { try RequestPath(raw: raw) } throws: { ($0 as? Problem)?.code == .malformed }
    }

    @Test func encodingAndDecodingGiveTheTextBack() {
        let text = "a/b c+d%é\0~"
        let encoded = PercentDecoding.encode(text)
        #expect(PercentDecoding.decode(encoded[...].utf8, plusIsSpace: true) == text)
    }
}
