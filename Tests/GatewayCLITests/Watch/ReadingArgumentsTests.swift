import Testing

@testable import GatewayCLI

@Suite struct ReadingArgumentsTests {
    @Test(
        arguments: [
            (["item1", "last_price"], nil, "item1", "last_price"),
            (["item1", "item2", "last_price,time"], nil, "item1,item2", "last_price,time"),
            (["localhost:8080", "item1", "last_price"], "localhost:8080", "item1", "last_price"),
            (["http://a/b", "item1", "f"], "http://a/b", "item1", "f"),
            (["[::1]:8080", "item1", "f"], "[::1]:8080", "item1", "f"),
            (["localhost"], "localhost", nil, nil), (["a:b", "f"], nil, "a:b", "f"), (["item1"], nil, "item1", nil),
            ([], nil, nil, nil),
        ] as [([String], String?, String?, String?)]
    )
    func wordsAreAddressItemsAndFields(words: [String], address: String?, items: String?, fields: String?) {
        let arguments = ReadingArguments(words)
        #expect(arguments.address == address)
        #expect(arguments.items == items)
        #expect(arguments.fields == fields)
    }

    @Test func allWordsAreItemsIfFieldsAreGivenElsewhere() {
        #expect(ReadingArguments(["item1", "item2"], hasFields: true).items == "item1,item2")
    }

    @Test(arguments: [
        ("a:1", "http://a:1"), ("a:443", "https://a:443"), ("a", "http://a"), ("https://a/", "https://a"),
    ])
    func addressWithoutASchemeIsHTTPExceptForPortsOfHTTPS(address: String, url: String) {
        #expect(AddressFinder.url(address) == url)
    }
}
