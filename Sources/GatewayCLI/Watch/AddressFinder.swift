internal import HTTPFetch
internal import JSONText

/// Finds out what serves an address: a gateway or a Lightstreamer server.
enum AddressFinder {
    /// The kind of server at an address, with its URL.
    enum Finding: Equatable {
        case gateway(String)
        case server(String)

        /// Reads what a command names, until the last requested update; returns why that failed.
        func read(_ command: WatchCommand, _ output: WatchOutput) async -> WatchFailure? {
            do {
                switch self {
                case .server(let url): try await ServerWatch(command: command, address: url, output: output).run()
                case .gateway(let url): try await GatewayWatch(command: command, address: url, output: output).run()
                }
                return nil
            } catch {
                return error as? WatchFailure ?? WatchFailure("\(error)")
            }
        }
    }

    /// The address of a gateway that runs with its defaults.
    static let usual = "http://127.0.0.1:8080"

    /// The longest time to wait for a response.
    private static let timeout = Duration.seconds(5)

    /// The URL of an address without a scheme: https for the ports 443 and 8443, otherwise http.
    static func url(_ address: String) -> String {
        let address = address.hasSuffix("/") ? String(address.dropLast()) : address
        if address.contains("://") { return address }
        let isSecure = address.hasSuffix(":443") || address.hasSuffix(":8443")
        return (isSecure ? "https://" : "http://") + address
    }

    /// Asks an address whether it is a gateway: only a gateway responds to `/health/live` with its status. Throws if
    /// nothing responds.
    static func find(_ address: String) async throws(WatchFailure) -> Finding {
        let url = url(address)
        do {
            let response = try await HTTPFetch(url + "/health/live", timeout: timeout).response(upTo: 1 << 16)
            let status = try? JSONValue(parsing: response.body)["status"]?.string
            return response.status == 200 && status == "live" ? .gateway(url) : .server(url)
        } catch {
            throw WatchFailure(NetworkError.advice(error, address: url))
        }
    }
}
