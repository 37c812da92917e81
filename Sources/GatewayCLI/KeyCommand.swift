internal import ArgumentParser
internal import Gateway

/// `key`: makes an API key and the hash that a configuration holds of it.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make an API key, and the hash that the configuration holds of it.",
        discussion: """
            The key is shown once: give it to its holder, who sends it as "Authorization: Bearer KEY". The hash goes \
            into the configuration, as auth.keys.NAME.hash; nobody can find the key by it. Only keys made here are as \
            random as a plain SHA-256 needs: use no word of your own.
            """
    )

    @Flag(help: "Read a key from standard input and print its hash.")
    var hash = false

    func run() throws {
        if hash {
            guard let key = readLine(), !key.isEmpty else { throw ValidationError("standard input holds no key") }
            StandardOutput.write("hash: \(KeyHash(of: key))\n")
            return
        }
        let key = APIKey.make()
        StandardOutput.write("key: \(key)\nhash: \(KeyHash(of: key))\n")
    }
}
