internal import ArgumentParser
internal import Gateway

/// `key`: creates an API key and the hash that a configuration contains.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Create an API key, and its hash for the configuration.",
        discussion: """
            The key is printed once. Its holder sends it as "Authorization: Bearer KEY". The hash goes into the \
            configuration, as auth.keys.NAME.hash; the key cannot be derived from it. Use only keys created by this \
            command: a plain SHA-256 hash does not protect passwords that people choose.
            """
    )

    @Flag(help: "Read a key from standard input and print its hash.")
    var hash = false

    func run() throws {
        if hash {
            guard let key = readLine(), !key.isEmpty else {
                throw ExitCode.validationFailure.because("Error: standard input has no key")
            }
            StandardOutput.write("hash: \(KeyHash(of: key))\n")
            return try StandardOutput.check()
        }
        let key = APIKey.make()
        StandardOutput.write("key: \(key)\nhash: \(KeyHash(of: key))\n")
        try StandardOutput.check()
    }
}
