internal import Testing

@testable internal import TLCP

struct DiffFormatsTests {
    @Test(arguments: [("P,T", DiffFormats.all), ("T", .tlcpDiff), ("P", .jsonPatch), ("", DiffFormats())])
    func comesBackFromTheWire(wire: String, formats: DiffFormats) {
        #expect(DiffFormats(wire: wire) == formats)
        #expect(formats.wire == wire)
    }

    @Test func namesThatAreNotKnownAreLeftOut() {
        #expect(DiffFormats(wire: "X,T,p,,PT") == .tlcpDiff)
    }
}
