import Changes
import Dispatch
import EventHub
import JSONText
import LightstreamerClient
import Replication
import SessionCore
import SessionPool
import Synchronization
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ClusterResourcesTests {
    @Test(arguments: ["", #"{"ttl":2.5}"#, #"{"ttl":null}"#])
    func inheritedSubscriptionKeepsItsTime(patch: String) async throws {
        try await ClusterFixture.run { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let body = #"{"upstream":"demo","mode":"MERGE","items":["i"],"fields":["f"],"active":false,"ttl":1.5}"#
            let id = try #require(await member.perform("POST", "/v1/subscriptions", body).json["id"]?.string)
            let path = "/v1/subscriptions/\(id)"
            if !patch.isEmpty { #expect(await member.perform("PATCH", path, patch).status == 200) }
            let ttl = await member.perform("GET", path).json["ttl"]
            await fixture.settle()
            let number = try #require(member.number)
            other.node.write(.remove(number))
            #expect(await other.confirm())
            await other.catchUp()
            #expect(other.services.has(id))
            #expect(await other.perform("GET", path).json["ttl"] == ttl)
        }
    }

    @Test(
        arguments: [
            ("/v1/clients", #"{"upstream":"demo","connect":false}"#),
            ("/v1/subscriptions", #"{"upstream":"demo","mode":"MERGE","items":["i"],"fields":["f"],"active":false}"#),
        ]
    )
    func inheritedResourceEndsWhenTheKeyOfItsTokenIsWithdrawn(path: String, body: String) async throws {
        try await ClusterFixture.run(access: TokenForge.configuration()) { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let rights = #""operations":"read subscribe manage","upstreams":"demo","items":"i*""#
            let token = try TokenForge.token(rights, expiry: fixture.time.wall + 100)
            let id = try #require(await member.perform("POST", path, as: token, body).json["id"]?.string)
            await fixture.settle()
            let maker = member.services.access.owners.holder(of: id)
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            let services = other.services
            let owner = services.access.owners.holder(of: id)
            #expect(owner.rights == maker.rights && owner.verifiedBy == maker.verifiedBy && owner.verifiedBy != nil)
            var access = services.access.configuration
            services.end(try services.access.load(access))
            #expect(services.has(id))
            access.webTokens.secret = "another secret of thirty-two bytes, for tests"
            services.end(try services.access.load(access))
            #expect(!services.has(id))
        }
    }

    /// The specification has the name of the key that created the client, not the rights of the key.
    @Test(arguments: [AccessFixture.admin, AccessFixture.alice])
    func clientsOfKeysWithAnyRightsAreInherited(key: String) async throws {
        try await ClusterFixture.run { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let made = await member.perform("POST", "/v1/clients", as: key, #"{"upstream":"demo","connect":false}"#)
            let path = "/v1/clients/" + (try #require(made.json["id"]?.string))
            #expect(await member.perform("PATCH", path + "/options", as: key, #"{"retryDelay":7}"#).status == 200)
            await fixture.settle()
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            let options = await other.perform("GET", path + "/options", as: key)
            #expect(options.status == 200 && options.json["retryDelay"]?.number?.intValue == 7)
        }
    }

    /// Consecutive merge patches are not one merge patch: null before an object, names in another case. Names that were removed
    /// added up in the specification, beyond the number that a patch may have.
    @Test(arguments: [
        [#"{"httpExtraHeaders":null}"#, #"{"httpExtraHeaders":{"X-B":"2"}}"#],
        [#"{"httpExtraHeaders":{"x-secret":null}}"#, #"{"httpExtraHeaders":{"X-Secret":"2"}}"#],
        [#"{"pollingInterval":9,"connectTimeout":"auto"}"#, #"{"httpExtraHeaders":{"x-secret":"3","X-B":"4"}}"#],
        (0..<3).map { round in
            let names = (0..<100).map { #""X-\#(round)-\#($0)":null"# }
            return #"{"httpExtraHeaders":{\#(names.joined(separator: ","))}}"#
        },
    ])
    func inheritedClientHasTheOptionsOfItsFormerOwner(patches: [String]) async throws {
        try await ClusterFixture.run { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let options = #"{"httpExtraHeaders":{"X-Secret":"1"},"retryDelay":7}"#
            let body = #"{"upstream":"demo","connect":false,"options":\#(options)}"#
            let id = try #require(await member.perform("POST", "/v1/clients", body).json["id"]?.string)
            let path = "/v1/clients/\(id)/options"
            for patch in patches { #expect(await member.perform("PATCH", path, patch).status == 200) }
            let present = await member.perform("GET", path).json
            #expect(present["retryDelay"]?.number?.intValue == 7)
            await fixture.settle()
            let content = try #require(member.node.content(of: id))
            #expect(JSONValue.object(content).text.utf8.count < 2_000)
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            #expect(await other.perform("GET", path).json == present)
        }
    }

    /// The present options name the removed header besides.
    @Test func inheritedClientHasTheMostHeadersWithoutThatOfItsUpstream() async throws {
        try await ClusterFixture.run { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            for member in fixture.members {
                var pool = member.services.pool.settings.configuration
                for index in pool.upstreams.indices { pool.upstreams[index].options.httpExtraHeaders = ["X": "0"] }
                member.services.pool.reload(pool)
            }
            let made = await member.perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let path = "/v1/clients/\(try #require(made.json["id"]?.string))/options"
            let names = (1..<100).map { #","X-\#($0)":"1""# }.joined()
            for headers in [#""X":null\#(names)"#, #""X-100":"1""#] {
                #expect(await member.perform("PATCH", path, #"{"httpExtraHeaders":{\#(headers)}}"#).status == 200)
            }
            let present = await member.perform("GET", path).json
            #expect(present["httpExtraHeaders"]?.object?.count == 100)
            await fixture.settle()
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            #expect(await other.perform("GET", path).json == present)
        }
    }

    @Test func subscriptionsOfAClientThatAnotherMemberInheritsAreStillRead() async throws {
        try await ClusterFixture.run { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let made = await member.perform("POST", "/v1/clients", #"{"upstream":"demo","connect":false}"#)
            let client = try #require(made.json["id"]?.string)
            let body = #"{"client":"\#(client)","mode":"MERGE","items":["i"],"fields":["f"],"active":false}"#
            let id = try #require(await member.perform("POST", "/v1/subscriptions", body).json["id"]?.string)
            await fixture.settle()
            let present = member.start("GET", "/v1/subscriptions/\(id)/events")
            #expect(await present.outcome.isStream)
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            #expect(other.services.has(id) && !member.services.has(id))
            #expect(!member.text(of: try #require(present.stream)).contains("closing"))
            let next = member.start("GET", "/v1/subscriptions/\(id)/events")
            #expect(await next.outcome.isStream)
            for stream in [present, next] { stream.stream?.onEnd(.neverOpened) }
        }
    }

    @Test func membersThatInheritASubscriptionOrJoinKnowItsError() async throws {
        try await ClusterFixture.run { fixture in
            let (other, member) = (fixture.members[0], fixture.members[1])
            let id = await member.makeSubscription()
            let failure = SubscriptionEvent.failed(code: 21, message: "Bad Item Group name")
            member.node.take(.subscription(SubscriptionID(id), .event(failure)))
            await fixture.settle()
            try await ConfirmationTests.replace(member, by: other, fixture.engine)
            await fixture.settle()
            let inherited = await other.perform("GET", "/v1/subscriptions/\(id)").json
            #expect(inherited["lastError"]?["code"]?.number?.intValue == 21)
            try await fixture.withAnother { joined in
                #expect(joined.node.hub.snapshot(of: SubscriptionID(id))?.lastError == UpstreamRefusal(failure))
            }
        }
    }

    /// As when too much has waited for the engine: no other member can inherit what the member has.
    @Test func aMemberWithoutHeirsKeepsItsResources() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let subscription = await member.makeSubscription()
            let body = #"{"upstream":"demo","connect":false}"#
            let client = try #require(await member.perform("POST", "/v1/clients", body).json["id"]?.string)
            let pool = member.services.pool
            let former = try #require(pool.resource(SubscriptionID(subscription)))
            let lastError = UpstreamRefusal(.failed(code: 21, message: "Bad Item Group name"))
            former.takeOver(lastError)
            let dedicated = try #require(pool.client(ClientID(client)))
            dedicated.client(dedicated.core, emitted: .status(.connectedWSStreaming))
            await fixture.settle()
            let number = try #require(member.number)
            member.node.write(.remove(number))
            await member.join(fixture.engine, after: number)
            await fixture.settle()
            #expect(pool.resource(SubscriptionID(subscription)) === former)
            #expect(pool.client(ClientID(client)) === dedicated)
            #expect(pool.clients().count == 1)
            #expect(former.status.lastError == lastError)
            #expect(member.node.hub.snapshot(of: former.id)?.lastError == lastError)
            let status = member.node.state.withLock { $0.machine.ledger?.clients[client]?.status }
            #expect(status == .connectedWSStreaming)
            for path in ["/v1/subscriptions/\(subscription)", "/v1/clients/\(client)"] {
                #expect(await member.perform("GET", path).status == 200)
            }
            #expect(await member.perform("DELETE", "/v1/subscriptions/\(subscription)").status == 204)
            #expect(pool.resources().isEmpty)
        }
    }

    /// Another member recreates a client from its specification, which has to contain every change.
    @Test func changesOfAClientAtTheSameTimeAreAllPartOfItsSpecification() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            let body = #"{"upstream":"demo","connect":false}"#
            let id = try #require(await member.perform("POST", "/v1/clients", body).json["id"]?.string)
            for round in 1...300 {
                let bodies = ["retryDelay", "idleTimeout", "firstRetryMaxDelay"].map { #"{"\#($0)":\#(round)}"# }
                let requests = Mutex<[PendingOutcome]>([])
                DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
                    let request = member.start("PATCH", "/v1/clients/\(id)/options", bodies[index])
                    requests.withLock { $0.append(request) }
                }
                for request in requests.withLock({ $0 }) { #expect(await request.outcome.status == 200) }
                let options = member.node.content(of: id)?["changes"]?["patchClientOptions"]
                for name in ["retryDelay", "idleTimeout", "firstRetryMaxDelay"] {
                    #expect(options?[name]?.number?.intValue == round)
                }
            }
        }
    }

    /// Another member opens the stream by its definition in the log.
    @Test func changesOfAStreamAtTheSameTimeAreAllPartOfItsDefinition() async throws {
        try await ClusterFixture.run(1) { fixture in
            let member = fixture.members[0]
            var ids: [String] = []
            for _ in 0..<4 { ids.append(await member.makeSubscription()) }
            let body = #"{"sources":[{"subscription":"\#(ids.removeLast())"}]}"#
            let id = try #require(await member.perform("POST", "/v1/streams", body).json["id"]?.string)
            for round in 1...300 {
                let change = round.isMultiple(of: 2) ? "remove" : "add"
                let bodies = ids.map { #"{"\#(change)":[{"subscription":"\#($0)"}]}"# }
                let requests = Mutex<[PendingOutcome]>([])
                DispatchQueue.concurrentPerform(iterations: bodies.count) { index in
                    let request = member.start("PATCH", "/v1/streams/\(id)", bodies[index])
                    requests.withLock { $0.append(request) }
                }
                for request in requests.withLock({ $0 }) { #expect(await request.outcome.status == 200) }
                let present = try #require(member.services.streamResources.entry(id)?.prepared?.sources)
                let written = try #require(member.node.preparedStream(id)?.definition.request.sources)
                #expect(Set(written) == Set(present))
                #expect(written.count == (round.isMultiple(of: 2) ? 1 : 4))
            }
        }
    }
}
