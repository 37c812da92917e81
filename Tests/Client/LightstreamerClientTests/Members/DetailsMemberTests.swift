internal import DemoServer
internal import LightstreamerClient
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct DetailsMemberTests {
    @Test(arguments: ["", "push.example.com", "ws://push.example.com", "http://push.example.com?a=b", "http://:80"])
    func addressesThatAreNoBaseAddressAreRefused(address: String) throws {
        let details = try LightstreamerClient(serverAddress: "http://push.example.com").connectionDetails
        let error = #expect(throws: ClientError.self) { try details.setServerAddress(address) }
        #expect(error?.code == .invalidValue)
        #expect(error?.property == "serverAddress")
        #expect(details.serverAddress == "http://push.example.com")
        try details.setServerAddress(nil)
        #expect(details.serverAddress == nil)
    }

    @Test func changesAreReportedOnceEach() async throws {
        try await MemberFixture.run { fixture in
            let details = fixture.client.connectionDetails
            try details.setServerAddress("http://127.0.0.1:1")
            details.setAdapterSet("SET")
            details.setAdapterSet("SET")
            details.setUser("me")
            details.setPassword("secret")
            try details.setCertificatePins(["sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="])
            await fixture.log.until("property certificatePins")
            #expect(
                fixture.log.entries == [
                    "added", "property serverAddress", "property adapterSet", "property user", "property password",
                    "property certificatePins",
                ]
            )
            #expect(details.adapterSet == "SET" && details.user == "me" && details.certificatePins.count == 1)
            #expect(throws: ClientError.self) { try details.setCertificatePins(["md5/xyz"]) }
        }
    }

    /// A session that is created in between would send the user and the password to another address.
    @Test func detailsThatAreSetTogetherTakeEffectTogether() async throws {
        try await MemberFixture.run { fixture in
            let witness = DetailsWitness()
            fixture.client.addDelegate(witness)
            let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
            try fixture.client.connectionDetails.update(certificatePins: [pin]) { details in
                details.serverAddress = "http://127.0.0.1:1"
                details.user = "me"
                details.password = "secret"
            }
            await fixture.log.until("property certificatePins")
            let names = ["serverAddress", "user", "password", "certificatePins"]
            #expect(fixture.log.entries == ["added"] + names.map { "property \($0)" })
            #expect(witness.seen.first == "serverAddress: http://127.0.0.1:1 me 1")
        }
    }

    @Test func detailsThatAreSetTogetherAreAllRefusedForOne() throws {
        let address = "http://push.example.com"
        var configuration = ClientConfiguration()
        configuration.allowedAddresses = AddressAllowList([.init(host: "push.example.com", port: nil)])
        let details = try LightstreamerClient(serverAddress: address, configuration: configuration).connectionDetails
        let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        for (pins, other) in [([pin], "http://other.example.com"), (["md5/xyz"], address)] {
            #expect(throws: ClientError.self) {
                try details.update(certificatePins: pins) { values in
                    values.serverAddress = other
                    values.user = "me"
                }
            }
            #expect(details.serverAddress == address && details.user == nil && details.certificatePins.isEmpty)
        }
    }

    @Test func anotherUnicodeFormIsAnotherPassword() async throws {
        try await MemberFixture.run { fixture in
            let details = fixture.client.connectionDetails
            details.setPassword("\u{E9}")
            details.setPassword("e\u{301}")
            details.setUser("me")
            await fixture.log.until("property user")
            #expect(
                fixture.log.entries == ["added", "property password", "property password", "property user"]
            )
        }
    }

    @Test func userAndPasswordAuthenticate() async throws {
        try await MemberFixture.run {
            $0.users = ["me": "secret"]
        } _: { fixture in
            try fixture.client.connect()
            await fixture.log.until("error 1")
            fixture.client.connectionDetails.setUser("me")
            fixture.client.connectionDetails.setPassword("secret")
            try await fixture.connect()
        }
    }

    @Test func propertiesOfTheSessionAreReportedWhileItLasts() async throws {
        try await MemberFixture.run { fixture in
            let details = fixture.client.connectionDetails
            try fixture.client.connect()
            await fixture.log.until("property clientIp")
            #expect(details.sessionId?.isEmpty == false)
            #expect(details.serverSocketName == "Bench")
            #expect(details.clientIp == "127.0.0.1")
            #expect(details.serverInstanceAddress == nil)
            fixture.client.disconnect()
            await fixture.log.until("property clientIp")
            #expect(details.sessionId == nil && details.serverSocketName == nil && details.clientIp == nil)
        }
    }

    @Test func statusThatEndsTheSessionAndItsPropertiesChangeTogether() async throws {
        try await MemberFixture.run { fixture in
            let witness = SessionWitness()
            fixture.client.addDelegate(witness)
            try fixture.client.connect()
            await fixture.log.until("property clientIp")
            fixture.client.disconnect()
            await fixture.log.until("property clientIp")
            #expect(witness.sessions.first == "CONNECTING nil")
            #expect(witness.sessions.last == "DISCONNECTED nil")
        }
    }

    @Test func controlLinkIsTheServerInstanceAddress() async throws {
        try await MemberFixture.run {
            $0.controlLink = "localhost"
        } _: { fixture in
            try await fixture.connect()
            let port = try #require(fixture.address.split(separator: ":").last)
            #expect(fixture.client.connectionDetails.serverInstanceAddress == "http://localhost:\(port)")
        }
    }

    @Test func descriptionDoesNotContainThePassword() throws {
        let details = try LightstreamerClient(serverAddress: "http://push.example.com").connectionDetails
        details.setUser("me")
        details.setPassword("s3cret-word")
        #expect(details.description.contains("http://push.example.com") && details.description.contains("me"))
        #expect(details.description.contains(LightstreamerClient.libVersion))
        #expect(!details.description.contains("s3cret-word"))
    }

    @Test func descriptionHasThePinsThatAreSet() throws {
        let pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let details = try LightstreamerClient().connectionDetails
        #expect(!details.description.contains("certificatePins"))
        try details.setCertificatePins([pin])
        #expect(details.description.contains("certificatePins=\(pin)"))
    }
}

/// Records the session id at each status event.
private final class SessionWitness: ClientDelegate {
    private let state = Mutex<[String]>([])

    var sessions: [String] { state.withLock { $0 } }

    func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
        let session = client.connectionDetails.sessionId == nil ? "nil" : "a session"
        state.withLock { $0.append("\(status.rawValue) \(session)") }
    }
}

/// Records, at each change of a detail, the address, the user, and the number of certificate pins.
private final class DetailsWitness: ClientDelegate {
    private let state = Mutex<[String]>([])

    var seen: [String] { state.withLock { $0 } }

    func client(_ client: LightstreamerClient, didChangeProperty property: String) {
        let details = client.connectionDetails
        let values = "\(details.serverAddress ?? "-") \(details.user ?? "-") \(details.certificatePins.count)"
        state.withLock { $0.append("\(property): \(values)") }
    }
}
