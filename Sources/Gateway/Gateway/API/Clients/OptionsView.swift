internal import Changes
internal import JSONText
internal import LightstreamerClient
internal import SessionCore
internal import SessionPool

struct OptionsView {
    /// The text shown in place of a secret.
    private static let mask = "***"

    private let options: ConnectionOptions
    private let secretHeaders: Set<String>

    /// The options of a client; the headers that the configuration of its upstream sets are masked.
    init(_ client: PooledClient) {
        options = client.core.connectionOptions
        secretHeaders = client.secretHeaders
    }

    /// All options of a client: the values in force, and under `requested` the values that the user set.
    func write(to json: inout JSONBytes) {
        json.beginObject()
        write(options.values, to: &json)
        json.member("realMaxBandwidth", options.realMaxBandwidth)
        json.object("requested") { write(options.requested, to: &$0) }
        json.endObject()
    }

    /// The merge patch that changes other options into those that the user set, secret headers included.
    func patch(of others: ConnectionOptionValues) -> JSONObject {
        var patch = JSONObject()
        for option in ConnectionOption.all {
            guard case .headers(let path) = option.storage else {
                var json = JSONBytes()
                write(option, of: options.requested, to: &json)
                patch[option.name] = try? JSONValue(parsing: json.bytes)
                continue
            }
            let (present, former) = (options.requested[keyPath: path] ?? [:], others[keyPath: path] ?? [:])
            var headers = JSONObject()
            for name in former.keys.sorted() where present[name] == nil { headers[name] = .null }
            for (name, value) in present.sorted(by: { $0.key < $1.key }) where former[name] != value {
                headers[name] = .string(value)
            }
            if !headers.isEmpty { patch[option.name] = .object(headers) }
        }
        return patch
    }

    private func write(_ values: ConnectionOptionValues, to json: inout JSONBytes) {
        for option in ConnectionOption.all {
            json.key(option.name)
            write(option, of: values, to: &json)
        }
    }

    private func write(_ option: ConnectionOption, of values: ConnectionOptionValues, to json: inout JSONBytes) {
        switch option.storage {
        case .seconds(let path, _): json.shortest(values[keyPath: path])
        case .bytes(let path): json.number(Int(clamping: values[keyPath: path]))
        case .flag(let path): json.bool(values[keyPath: path])
        case .transport(let path): json.string(values[keyPath: path]?.rawValue)
        case .headers(let path): write(values[keyPath: path], to: &json)
        case .bandwidth(let path): json.write(values[keyPath: path])
        case .connectTimeout(let path): json.write(values[keyPath: path])
        }
    }

    private func write(_ headers: [String: String]?, to json: inout JSONBytes) {
        guard let headers else { return json.null() }
        json.beginObject()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.string(secretHeaders.contains(name.lowercased()) ? Self.mask : value)
        }
        json.endObject()
    }
}
