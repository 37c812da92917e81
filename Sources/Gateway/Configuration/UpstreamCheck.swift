internal import LightstreamerClient
internal import SessionPool

/// Holds an upstream's values against the rules of the client library.
enum UpstreamCheck {
    /// The rule that the upstream breaks; nil if it breaks none.
    static func violation(of upstream: UpstreamConfiguration) -> String? {
        do throws(ClientError) {
            let client = try LightstreamerClient(serverAddress: upstream.serverAddress, adapterSet: upstream.adapterSet)
            try client.connectionOptions.update { $0 = upstream.options }
            return nil
        } catch {
            return error.property == "serverAddress" ? error.rule : "\(error)"
        }
    }
}
