#if DistributedTracingSupport
    internal import Tracing
#endif

/// Performs a call in a span of the process's tracer; with the trait `DistributedTracingSupport`, else without a span. An
/// error is recorded by the span.
///
/// - Parameters:
///   - name: The name of the span.
///   - client: The client, whose server and adapter set are attributes of the span.
///   - attributes: Further attributes.
///   - call: The call.
func withClientSpan<Value: Sendable>(
    _ name: String,
    of client: ClientCore,
    _ attributes: [(String, String?)] = [],
    _ call: () async throws -> Value
) async rethrows -> Value {
    #if DistributedTracingSupport
        return try await withSpan(name, ofKind: .client) { span in
            let details = client.state.withLock { $0.details }
            let server = [("server.address", details.serverAddress), ("lightstreamer.adapter_set", details.adapterSet)]
            span.updateAttributes { all in
                for (name, value) in server + attributes {
                    if let value { all[name] = SpanAttribute.string(value) }
                }
            }
            return try await call()
        }
    #else
        return try await call()
    #endif
}
