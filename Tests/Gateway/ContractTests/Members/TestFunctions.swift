/// The test functions that some Swift sources declare, as `Suite.function`.
struct TestFunctions {
    private(set) var names: Set<String> = []

    init(of texts: [String]) {
        for text in texts { read(text) }
    }

    private mutating func read(_ text: String) {
        var suite = ""
        var isTest = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let kind = words.firstIndex(where: { ["struct", "class", "extension", "actor"].contains($0) }),
                kind + 1 < words.count, line.hasSuffix("{"), !line.hasPrefix(" ")
            {
                suite = String(words[kind + 1].prefix { $0.isLetter || $0.isNumber })
            }
            if line.contains("@Test") { isTest = true }
            if isTest, let keyword = words.firstIndex(of: "func"), keyword + 1 < words.count {
                names.insert("\(suite).\(words[keyword + 1].prefix { $0 != "(" })")
                isTest = false
            }
        }
    }
}
