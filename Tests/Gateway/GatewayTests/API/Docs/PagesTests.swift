import JSONText
import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct PagesTests {
    @Test func everyProblemCodeHasItsCauseAndCure() throws {
        let file = try #require(EmbeddedFiles.shared["codes.json"])
        let codes = try JSONValue(parsing: file.bytes.array)
        let problems = codes["problem"]?.array ?? []
        #expect(Set(problems.compactMap { $0["code"]?.string }) == Set(ProblemCode.allCases.map(\.rawValue)))
        for kind in ["problem", "session", "subscription", "message", "closing"] {
            for entry in codes[kind]?.array ?? [] {
                #expect(entry["cause"]?.string?.isEmpty == false && entry["cure"]?.string?.isEmpty == false, "\(entry)")
            }
        }
    }

    @Test func theDashboardMayNotBeFramed() async throws {
        let fixture = try await AccessFixture()
        let policy = fixture.perform("GET", "/").headers["Content-Security-Policy"]
        #expect(policy?.contains("default-src 'none'") == true)
        #expect(policy?.contains("frame-ancestors 'none'") == true)
    }

    @Test(arguments: ["gateway", "gateway-react", "gateway-elements"])
    func moduleForBrowsersIsServedWithItsTypes(name: String) async throws {
        let fixture = try await AccessFixture()
        let script = fixture.perform("GET", "/assets/\(name).js")
        #expect(script.headers["Content-Type"] == "text/javascript; charset=utf-8")
        let types = fixture.perform("GET", "/assets/\(name).d.ts")
        #expect(types.status == 200)
        #expect(types.headers["Content-Type"] == "application/typescript; charset=utf-8")
    }

    @Test func assetsHaveTheMediaTypesOfTheContract() async throws {
        let fixture = try await AccessFixture()
        #expect(fixture.perform("GET", "/assets/app.js").headers["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(fixture.perform("GET", "/openapi.yaml").headers["Content-Type"] == "application/yaml")
        #expect(fixture.perform("GET", "/assets/openapi.yaml").status == 404)
    }

    @Test(arguments: [
        ("gzip", true), ("br, gzip;q=0.5", true), ("*", true), ("GZIP", true), ("gzip;q=0", false),
        ("gzip; q=0.000", false), ("br", false), ("", false), ("gzip;q=0, *", false), ("*, gzip;q=0", false),
        ("*;q=0", false), ("*;q=0, gzip", true), ("identity;q=0, *;q=0.5", true), ("x-gzip", true),
        ("identity;q=1, gzip;q=0.5", false), ("gzip;q=0.5, identity;q=0.1", true), ("identity, gzip", true),
        ("identity;q=0.5, *;q=0.1", false), ("identity", false), ("gzip;q=nan", false),
    ])
    func gzipIsSentWhereItIsAccepted(header: String, isAccepted: Bool) {
        #expect(PagesResource.acceptsGzip(header) == isAccepted)
    }

    @Test(arguments: ["gzip", "identity"])
    func unchangedFilesVaryAsTheyDoWithTheirContent(encoding: String) async throws {
        let fixture = try await AccessFixture()
        let file = fixture.perform("GET", "/assets/app.js", as: nil, "", [HTTPField("Accept-Encoding", encoding)])
        let tag = HTTPField("If-None-Match", try #require(file.headers["ETag"]))
        let same = fixture.perform("GET", "/assets/app.js", as: nil, "", [HTTPField("Accept-Encoding", encoding), tag])
        #expect(file.status == 200 && same.status == 304)
        #expect(same.headers.values(of: "Vary") == file.headers.values(of: "Vary"))
        #expect(same.headers["Vary"] == "Accept-Encoding")
    }

    @Test func filesAreCompressedOnce() throws {
        let file = try #require(EmbeddedFiles.shared["app.js"])
        let compressed = try #require(file.compressed)
        #expect(compressed.bytes.bytes.count < file.bytes.bytes.count / 2)
        #expect(compressed.tag != file.tag)
    }
}
