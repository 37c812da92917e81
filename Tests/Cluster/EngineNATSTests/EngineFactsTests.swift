import CNATS
import JSONText
import Testing

@testable import EngineNATS

struct EngineFactsTests {
    private static let republish = #""republish":{"src":"g.in.>","dest":"g.out.>"}"#

    private func warnings(
        version: String?,
        copies: Int = 3,
        cluster: String = #","cluster":{"name":"c","leader":"a"}"#
    ) throws -> [String] {
        let log = #"{"config":{"storage":"file",\#(Self.republish),"num_replicas":\#(copies)}\#(cluster)}"#
        let user = try version.map { try JSONValue(parsing: #"{"server":{"ver":"\#($0)"}}"#).object }
        return EngineFacts(user: user ?? nil, log: try JSONValue(parsing: log).object ?? JSONObject()).warnings
    }

    @Test(arguments: [
        ("Publish", "g.in.frames", "g.in.frames"), ("Publish", "_INBOX.1x.7", "_INBOX.>"),
        ("Subscription", "g.call.2a", "g.call.>"),
    ])
    func refusedSubjectIsNamed(kind: String, subject: String, named: String) {
        let text = "Permissions Violation for \(kind) to \"\(subject)\""
        let configuration = NATSConfiguration(servers: [], name: "g")
        #expect(configuration.refusal(text) == "Permissions Violation for \(kind) to \"\(named)\"")
        #expect(configuration.refusal("Permissions Violation") == "Permissions Violation")
    }

    @Test(arguments: [
        (#"{"error":{"code":503,"description":"stream is sealed"},"stream":"g_LOG","seq":0}"#, nil, "stream is sealed"),
        ("", "503", "no stream takes the subject, or its servers have no leader"),
        (#"{"stream":"g_LOG","seq":7}"#, nil, nil), ("", nil, nil),
    ])
    func replyToAFrameTellsWhyItIsNotStored(reply: String, status: String?, reason: String?) {
        #expect(NATSConnection.failure(in: Array(reply.utf8), status: status) == reason)
    }

    /// Only the descriptions were told, which do not say what is too large, or how many servers are missing.
    @Test(arguments: [
        (10047, "insufficient storage resources available", "cluster.windowBytes"),
        (10002, "resource limits exceeded for account", "cluster.windowBytes"),
        (10005, "no suitable peers for placement, insufficient storage", "cluster.windowBytes"),
        (10005, "no suitable peers for placement", "cluster.copies"),
        (10074, "replicas > 1 not supported in non-clustered mode", "cluster.copies"),
        (10027, "maximum number of streams reached", nil),
    ])
    func serversWithoutRoomForTheLogNameTheSetting(code: Int, description: String, setting: String?) throws {
        let error = try JSONValue(parsing: #"{"code":500,"err_code":\#(code),"description":"\#(description)"}"#).object
        let cause = NATSConnection.cause(of: try #require(error))
        #expect(cause.hasPrefix(description))
        for name in ["cluster.windowBytes", "cluster.copies"] { #expect(cause.contains(name) == (name == setting)) }
    }

    /// Replicas began an epoch because of the extent that a former leader, or a server without a leader, told.
    @Test(arguments: [
        ("", true), (#"{"name":"c","leader":"a"}"#, true), (#"{"leader":"a"}"#, true),
        (#"{"leader":"a","replicas":[{"active":980000000},{"active":9580000000,"offline":true}]}"#, true),
        (#"{"leader":"a","replicas":[{"active":0},{"active":9580000000},{"active":9},{"active":4000000000}]}"#, true),
        (#"{"leader":"a","replicas":[{"active":5130000000},{"active":5130000000}]}"#, false),
        (
            #"{"leader":"a","replicas":[{"active":9},{"active":3000000000},{"active":8000000000},{"active":9000000000}]}"#,
            false
        ),
        (#"{"replicas":[{"active":50000000},{"active":90000000},{"active":12540000000}]}"#, false),
    ])
    func onlyALeaderThatHasHeardMostServersTellsTheExtentOfTheLog(cluster: String, isLed: Bool) throws {
        let member = cluster.isEmpty ? "" : #","cluster":\#(cluster)"#
        let log = try JSONValue(parsing: #"{"state":{"first_seq":1,"last_seq":2}\#(member)}"#).object
        #expect(NATSConnection.isLed(try #require(log)) == isLed)
    }

    @Test func replyThatIsTooLongForTheServerTellsNothing() {
        let reply = #"{"error":{"code":503,"description":"\#(String(repeating: "x", count: 5000))"}}"#
        #expect(NATSConnection.failure(in: Array(reply.utf8), status: nil) == nil)
    }

    @Test(arguments: [
        ("(conn.c:1909): Expected 'PONG', got ''", "Expected 'PONG', got ''"),
        ("(conn.c:733): SSL handshake error: 64:IP address mismatch", "SSL handshake error: 64:IP address mismatch"),
        ("SSL Error", "SSL Error"), ("(none", "(none"),
    ])
    func textOfTheLibraryIsToldWithoutItsPlace(text: String, told: String) {
        #expect(NATSConfiguration.detail(in: text) == told)
    }

    @Test func causesOfAFailedLoginNameTheSetting() {
        let ended = NATSConfiguration.cause(of: NATS_PROTOCOL_ERROR, "Expected 'PONG', got ''")
        #expect(ended.contains("cluster.tls.certificate") && ended.contains("(Expected 'PONG', got '')"))
        #expect(NATSConfiguration.cause(of: NATS_IO_ERROR, "SSL_write error").contains("cluster.tls.certificate"))
        let other = "Unexpected protocol: got 'SSH-2.0-OpenSSH_9.2' instead of 'INFO'"
        #expect(NATSConfiguration.cause(of: NATS_PROTOCOL_ERROR, other) == "it is no NATS server. Correct cluster.url.")
        #expect(NATSConfiguration.cause(of: NATS_SSL_ERROR, "64:IP address mismatch").contains("IP address mismatch"))
    }

    @Test(arguments: ["2.10.23", "2.10.29", "2.11.0-RC.1", "2.15.1", "10.0.0"])
    func safeVersionOnThreeServersHasNoWarning(version: String) throws {
        #expect(try warnings(version: version).isEmpty)
    }

    @Test(arguments: ["2.10.22", "2.9.10", "1.99.99", nil])
    func olderOrUnknownVersionHasAWarning(version: String?) throws {
        let warnings = try warnings(version: version)
        #expect(warnings.count == 1 && warnings[0].contains(version ?? "does not tell its version"))
    }

    @Test(arguments: [(65_536, 1), (1_048_576, 0)] as [(Int64, Int)])
    func serverThatRefusesLargeMessagesHasAWarning(limit: Int64, count: Int) throws {
        let user = try JSONValue(parsing: #"{"server":{"ver":"2.12.0"}}"#).object
        var facts = EngineFacts(user: user, log: JSONObject())
        let others = facts.warnings
        facts.messageLimit = limit
        let added = facts.warnings.filter { !others.contains($0) }
        #expect(added.count == count && added.allSatisfy { $0.contains("max_payload") })
    }

    /// As one that was created by hand.
    @Test(arguments: [(republish, 0), (#""allow_direct":true"#, 1)])
    func streamThatMembersCannotReadHasAWarning(settings: String, count: Int) throws {
        let user = try JSONValue(parsing: #"{"server":{"ver":"2.12.0"}}"#).object
        let log = #"{"config":{"storage":"file","num_replicas":3,\#(settings)}}"#
        let facts = EngineFacts(user: user, log: try JSONValue(parsing: log).object ?? JSONObject())
        #expect(facts.warnings.count == count && facts.warnings.allSatisfy { $0.contains("republish") })
    }

    @Test func partsOfASecondCountInTheAgeOfTheLog() throws {
        var configuration = NATSConfiguration(servers: [], name: "g")
        configuration.window = .milliseconds(1_500)
        #expect(try JSONValue(parsing: configuration.streamJSON)["max_age"]?.number?.intValue == 1_500_000_000)
    }

    @Test func aLogWithOtherLimitsGetsThoseOfTheConfiguration() throws {
        var configuration = NATSConfiguration(servers: [], name: "g")
        let text = configuration.streamJSON.dropLast() + #","duplicate_window":60000000000,"metadata":{"a":"b"}}"#
        let present = try #require(try JSONValue(parsing: String(text)).object)
        #expect(configuration.update(of: present) == nil)
        (configuration.window, configuration.windowBytes) = (.milliseconds(500), 1 << 20)
        let update = try JSONValue(parsing: try #require(configuration.update(of: present)))
        var expected = present
        (expected["max_age"], expected["max_bytes"], expected["duplicate_window"]) = (500_000_000, 1_048_576, nil)
        #expect(update == .object(expected))
    }

    /// Members that connect read the log by position.
    @Test func aLogThatIsNotReadByPositionIsMadeReadable() throws {
        let configuration = NATSConfiguration(servers: [], name: "g")
        let expected = try JSONValue(parsing: configuration.streamJSON)
        var present = try #require(expected.object)
        present["allow_direct"] = false
        #expect(try JSONValue(parsing: try #require(configuration.update(of: present))) == expected)
    }

    @Test func aLogThatKeepsItsLimitsHasAWarning() throws {
        let user = try JSONValue(parsing: #"{"server":{"ver":"2.12.0"}}"#).object
        var facts = EngineFacts(user: user, log: JSONObject())
        let others = facts.warnings
        facts.hasOtherLimits = true
        let added = facts.warnings.filter { !others.contains($0) }
        #expect(added.count == 1 && added.allSatisfy { $0.contains("cluster.window") })
    }

    @Test func onlyCopyOnSeveralServersHasAWarning() throws {
        let warnings = try warnings(version: "2.12.0", copies: 1)
        #expect(warnings.count == 2 && warnings[0].contains("cluster.copies"))
    }

    /// Newer servers describe a cluster without a name.
    @Test(arguments: ["", #","cluster":{"leader":"NDEMFYWJ"}"#])
    func serverThatRunsAloneNeedsNoFurtherCopies(cluster: String) throws {
        let warnings = try warnings(version: "2.12.0", copies: 1, cluster: cluster)
        #expect(warnings.count == 1 && warnings[0].contains("sync_interval"))
    }
}
