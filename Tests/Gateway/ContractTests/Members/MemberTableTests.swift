internal import Testing

/// Compares the table of members in the library's documentation with the sources, the REST contract and the tests.
struct MemberTableTests {
    private let table: MemberTable
    private let declarations: PublicDeclarations

    init() throws {
        table = MemberTable(
            try RepositoryFiles.text("Sources/Client/LightstreamerClient/Documentation.docc/Members.md")
        )
        declarations = PublicDeclarations(
            of: try RepositoryFiles.swiftTexts(
                under: "Sources/Client/LightstreamerClient",
                "Sources/Client/SessionCore",
                "Sources/Client/TLCPTransports"
            )
        )
    }

    private func expectNone(_ missing: [String], _ what: String) {
        #expect(missing == [], "\(what)")
    }

    @Test func everyClassReferenceHasItsSection() {
        let counts = Dictionary(grouping: table.rows, by: \.section).mapValues(\.count)
        let least = [
            "LightstreamerClient": 20, "ConnectionDetails": 10, "ConnectionOptions": 22, "ClientDelegate": 6,
            "Subscription": 35, "SubscriptionDelegate": 12, "ItemUpdate": 13, "ClientMessageDelegate": 5,
            "LSConnectionDelegate": 15,
        ]
        for (section, count) in least { #expect(counts[section, default: 0] >= count, "\(section)") }
    }

    @Test func everyRowNamesAMemberThatTheSourcesDeclare() {
        let named = table.rows.flatMap { row in row.swift.map { (row, $0) } }
        #expect(named.count > 150)
        expectNone(
            named.filter { !declarations.members.contains($0.1) }.map { "\($0.0.member): \($0.1)" },
            "no such member"
        )
    }

    @Test func onlyWhatIsLeftOutHasNoMember() {
        for row in table.rows {
            #expect(row.swift.isEmpty == (row.section == MemberTable.omissions), "\(row.testDescription)")
        }
    }

    @Test func everyPathStandsInTheContract() throws {
        let contract = try Contract(RepositoryFiles.text("openapi.yaml"))
        for row in table.rows {
            expectNone(
                row.operations.filter { !contract.operations.contains($0) },
                "no such operation: \(row.testDescription)"
            )
            expectNone(row.events.filter { !contract.words.contains($0) }, "no such event: \(row.testDescription)")
            expectNone(row.properties.filter { !contract.words.contains($0) }, "no such member: \(row.testDescription)")
        }
    }

    @Test func dashMeansThatNothingInTheContractReachesTheMember() throws {
        let contract = try Contract(RepositoryFiles.text("openapi.yaml"))
        let dashes = table.rows.filter { $0.operations.isEmpty && $0.events.isEmpty && $0.properties.isEmpty }
        #expect(!dashes.isEmpty)
        for row in dashes {
            // The last part of a selector names the member; the parts before it name its class.
            let name = row.member.split(separator: ":").last.map(String.init) ?? row.member
            #expect(!contract.words.contains(name), "a dash, but the contract has it: \(row.testDescription)")
        }
    }

    @Test func everyRowIsShownByATestThatExists() throws {
        let tests = TestFunctions(of: try RepositoryFiles.swiftTexts(under: "Tests")).names
        for row in table.rows where row.section != MemberTable.omissions {
            #expect(!row.tests.isEmpty, "no test: \(row.testDescription)")
            expectNone(row.tests.filter { !tests.contains($0) }, "no such test: \(row.testDescription)")
        }
    }

    @Test(arguments: [
        "ClientDelegate", "SubscriptionDelegate", "ClientMessageDelegate", "LegacyConnectionListener",
        "AuthenticationDelegate",
    ])
    func everyMethodOfADelegateHasARow(type: String) throws {
        let required = try #require(declarations.requirements[type])
        let named = Set(table.rows.flatMap(\.swift))
        expectNone(required.subtracting(named).sorted(), "without a row")
    }

    @Test(arguments: ["ConnectionOptions", "ConnectionDetails"])
    func everyPropertyAndSetterHasARow(type: String) {
        let members = declarations.members.filter {
            $0.hasPrefix("\(type).") && !$0.hasPrefix("\(type).SessionLimitPolicy")
        }
        let named = Set(table.rows.flatMap(\.swift))
        expectNone(members.subtracting(named).sorted(), "without a row")
    }
}

/// The operations and names of the REST contract that the table can refer to.
private struct Contract {
    /// Operations, as `GET /v1/…`.
    var operations: Set<String> = []
    /// Every word of the text: names of members and events among them.
    var words: Set<String> = []

    init(_ text: String) {
        var path = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("  /"), line.hasSuffix(":") { path = String(line.dropFirst(2).dropLast()) }
            let method = line.trimmingPrefix("    ").dropLast()
            if line.hasPrefix("    "), line.hasSuffix(":"), ["get", "post", "patch", "put", "delete"].contains(method) {
                operations.insert("\(method.uppercased()) \(path)")
            }
        }
        words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "-") }.map(String.init))
    }
}
