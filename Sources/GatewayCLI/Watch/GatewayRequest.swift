internal import AsyncHTTPClient
internal import Foundation

/// Requests to a gateway.
enum GatewayRequest {
    /// A request with the parameters that have a value, and with the credential of the environment.
    static func make(
        _ address: String,
        _ path: String,
        _ query: [(name: String, value: String?)] = []
    ) throws -> HTTPClientRequest {
        guard var url = URLComponents(string: address), url.scheme != nil, url.host != nil else {
            throw WatchFailure("\(address): must be a URL, such as http://127.0.0.1:8080.")
        }
        url.path += path
        let items = query.compactMap { entry in entry.value.map { URLQueryItem(name: entry.name, value: $0) } }
        if !items.isEmpty { url.queryItems = items }
        // A plus is literal in the items and fields, but in a query it means a space.
        url.percentEncodedQuery = url.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        var request = HTTPClientRequest(url: url.string ?? address)
        if let token = ProcessInfo.processInfo.environment["GATEWAY_TOKEN"] {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        return request
    }
}
