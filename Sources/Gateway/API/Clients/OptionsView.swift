internal import JSONText
internal import LightstreamerClient
internal import SessionCore

/// Connection options as JSON.
enum OptionsView {
    /// All options of a client: the values in force, and under `requested` the values that the user set.
    static func write(_ options: ConnectionOptions, to json: inout JSONBytes) {
        json.beginObject()
        write(options.values, to: &json)
        json.key("realMaxBandwidth")
        json.write(options.realMaxBandwidth)
        json.key("requested")
        json.beginObject()
        write(options.requested, to: &json)
        json.endObject()
        json.endObject()
    }

    /// Writes the value in force of one option; false if there is no option of the name.
    static func write(_ name: String, of options: ConnectionOptions, to json: inout JSONBytes) -> Bool {
        if name == "realMaxBandwidth" {
            json.write(options.realMaxBandwidth)
            return true
        }
        guard let option = ConnectionOption.all.first(where: { $0.name == name }) else { return false }
        write(option, of: options.values, to: &json)
        return true
    }

    private static func write(_ values: ConnectionOptionValues, to json: inout JSONBytes) {
        for option in ConnectionOption.all {
            json.key(option.name)
            write(option, of: values, to: &json)
        }
    }

    private static func write(
        _ option: ConnectionOption,
        of values: ConnectionOptionValues,
        to json: inout JSONBytes
    ) {
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

    private static func write(_ headers: [String: String]?, to json: inout JSONBytes) {
        guard let headers else {
            json.null()
            return
        }
        json.beginObject()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.string(value)
        }
        json.endObject()
    }
}
