internal import FoundationEssentials
internal import HTTPFetch

enum GatewayRequest {
    /// The API key or JWT of the environment, without the white space around it, such as the line end of a file; nil: none.
    static func token(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let words = environment["GATEWAY_TOKEN", default: ""].split(whereSeparator: \.isWhitespace)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    /// A request with the parameters that have a value, and with the credential of the environment. Throws `WatchFailure` for
    /// an address that no attempt can reach.
    ///
    /// - Parameter timeout: The longest time for the response; nil: no limit for a stream, whose reader limits its silence.
    static func make(
        _ address: String,
        _ path: String,
        _ query: [(name: String, value: String?)] = [],
        headers: [(name: String, value: String)] = [],
        timeout: Duration?
    ) throws -> HTTPFetch {
        guard var url = URLComponents(string: address), url.scheme != nil, url.host != nil else {
            throw WatchFailure("\(address): must be a URL, such as http://127.0.0.1:8080.")
        }
        url.path += path
        let items = query.compactMap { entry in entry.value.map { URLQueryItem(name: entry.name, value: $0) } }
        if !items.isEmpty { url.queryItems = items }
        // A plus is literal in the items and fields, but in a query it means a space.
        url.percentEncodedQuery = url.percentEncodedQuery?.replacing("+", with: "%2B")
        let credential = token().map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        do {
            return try HTTPFetch(
                url.string ?? address,
                headers: headers + credential,
                timeout: timeout,
                silence: timeout == nil ? StreamSilence.shortest : nil
            )
        } catch {
            throw WatchFailure("Cannot read from \(address): \(NetworkError.sentence(error)).")
        }
    }
}
