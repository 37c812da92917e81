internal import MicroHTTPD

/// The CORS policy of the present configuration. Cookies of other origins' pages count only where the origin is named.
struct CORSMiddleware: Middleware {
    /// The present rules.
    let rules: @Sendable () -> AccessConfiguration

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        try CORSPolicy(origins: rules().origins).admit(&call, operation: operation)
    }

    func finish(_ headers: inout HTTPFields, for call: Call) {
        let rules = rules()
        CORSPolicy(origins: rules.origins).finish(&headers, for: call)
        guard let origin = call.request.headers["Origin"], rules.origins.contains(origin), !rules.origins.contains("*"),
            !rules.isOpen, rules.cookie != nil
        else { return }
        headers.append("Access-Control-Allow-Credentials", "true")
    }
}
