internal import Cryptography
internal import Dispatch
internal import Synchronization

@testable internal import Gateway

private let secret = "a secret of thirty-two bytes or so, for tests"

/// Its keys are loaded asynchronously, once.
private let verifier: TokenVerifier = {
    let (loading, isLoaded) = (Loading(), DispatchSemaphore(value: 0))
    Task {
        await loading.run()
        isLoaded.signal()
    }
    isLoaded.wait()
    guard let verifier = loading.verifier.withLock({ $0 }) else { preconditionFailure("the verifier has no key") }
    return verifier
}()

private final class Loading: Sendable {
    let verifier = Mutex<TokenVerifier?>(nil)

    func run() async {
        var configuration = WebTokenConfiguration()
        configuration.secret = secret
        configuration.audience = "gateway"
        let loaded = try? TokenVerifier(configuration)
        verifier.withLock { $0 = loaded }
    }
}

/// Tokens are verified or refused: the input as it is, and as header and claims of a token with a good signature.
///
///     input = token, or header NUL claims
@Sendable func fuzzTokens(_ input: ArraySlice<UInt8>) {
    let verifier = verifier
    _ = try? verifier.caller(of: String(decoding: input, as: UTF8.self), now: 1_700_000_000)
    let texts = parts(of: input)
    guard texts.count == 2 else { return }
    let signed = Base64URL.encode(texts[0]) + "." + Base64URL.encode(texts[1])
    let signature = SHA256.code(of: Array(signed.utf8), key: Array(secret.utf8))
    let token = signed + "." + Base64URL.encode(signature)
    guard let caller = try? verifier.caller(of: token, now: 1_700_000_000) else { return }
    precondition(
        caller.identity?.hasPrefix("jwt:") == true && caller.expiry != nil,
        "a caller without identity or expiry"
    )
    if let rate = caller.rights.rate { precondition(RateConfiguration.range.contains(rate), "an impossible rate") }
}

/// Configuration files are read, or refused with mistakes.
@Sendable func fuzzConfigurations(_ input: ArraySlice<UInt8>) {
    guard let text = String(validating: input, as: UTF8.self),
        let file = try? ConfigurationFile(path: "f", text: text)
    else { return }
    var reader = ConfigurationReader(file: file, readFile: { $0.isEmpty ? nil : $0 })
    do throws(ConfigurationError) {
        let configuration = try reader.read()
        for setting in Settings.all { _ = setting.text(configuration) }
    } catch {
        precondition(!error.mistakes.isEmpty, "an error without a mistake")
    }
}
