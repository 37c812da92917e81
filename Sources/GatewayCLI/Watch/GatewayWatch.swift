internal import ArgumentParser
internal import AsyncHTTPClient
internal import Foundation
internal import JSONText
internal import NIOCore

/// Reads a gateway's stream as lines of JSON and prints its events.
struct GatewayWatch {
    let command: WatchCommand
    let address: String

    func run() async throws {
        guard var url = URLComponents(string: address) else {
            throw ValidationError("--gateway \(address): must be a URL")
        }
        url.path += "/v1/stream"
        url.queryItems = [
            URLQueryItem(name: "upstream", value: command.upstream),
            URLQueryItem(name: "mode", value: command.mode.uppercased()),
            URLQueryItem(name: "items", value: command.items),
            URLQueryItem(name: "fields", value: command.fields),
            URLQueryItem(name: "format", value: "ndjson"),
        ]
        if let adapter = command.dataAdapter {
            url.queryItems?.append(URLQueryItem(name: "dataAdapter", value: adapter))
        }
        // A plus stands for itself in the items and fields, but in a query it is a space.
        url.percentEncodedQuery = url.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        guard let text = url.string else { throw ValidationError("--gateway \(address): must be a URL") }
        var request = HTTPClientRequest(url: text)
        if let token = ProcessInfo.processInfo.environment["GATEWAY_TOKEN"] {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .hours(24 * 365))
        guard response.status == .ok else {
            let body = try await response.body.collect(upTo: 1 << 20)
            StandardError.write("\(response.status.code) \(String(buffer: body).trimmingCharacters(in: .newlines))\n")
            throw ExitCode.failure
        }
        try await printEvents(of: response.body)
    }

    private func printEvents(of body: HTTPClientResponse.Body) async throws {
        var pending: [UInt8] = []
        var seen = 0
        for try await chunk in body {
            pending += chunk.readableBytesView
            while let end = pending.firstIndex(of: 0x0A) {
                let line = Array(pending[..<end])
                pending.removeSubrange(...end)
                guard let event = try? JSONValue(parsing: line), printed(event) else { continue }
                seen += 1
                if seen == command.count { return }
            }
        }
    }

    /// Prints one event; true if it was an update.
    private func printed(_ event: JSONValue) -> Bool {
        guard case .object(let members) = event, case .string(let name)? = members["event"],
            case .object(let data)? = members["data"]
        else { return false }
        if name == "heartbeat" { return false }
        guard name == "update" else {
            StandardError.write("\(name) \(members["data"]?.text ?? "")\n")
            return false
        }
        var line = ""
        if case .string(let item)? = data["item"] { line = item }
        if data["snapshot"] == .bool(true) { line += " (snapshot)" }
        if case .object(let fields)? = data["fields"] {
            for field in fields {
                if case .string(let text) = field.value {
                    line += " \(field.name)=\(text)"
                } else {
                    line += " \(field.name)=null"
                }
            }
        }
        StandardOutput.write(line + "\n")
        return true
    }
}
