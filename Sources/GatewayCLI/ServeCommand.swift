internal import ArgumentParser
internal import Gateway

/// `serve`: a gateway over the configured upstreams.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway over configured upstreams.",
        discussion: """
            Once connections are accepted, the first line on standard output is "gateway: http://ADDRESS:PORT". Logs \
            go to standard error. SIGTERM and SIGINT stop it gently. SIGHUP reads the configuration again and takes over \
            what can change while streams go on: keys, limits, origins, upstreams and their quotas, the certificate.
            """
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let configuration = try options.configuration()
        let logger = LogOptions.start(configuration.log)
        let host = configuration.http.host
        let isSecure = configuration.http.certificate != nil
        let gateway = Gateway(configuration: configuration, logger: logger)
        let service = GatewayService(gateway: gateway) { port in
            StandardOutput.write("gateway: \(ProcessServices.url(host: host, port: port, isSecure: isSecure))\n")
        }
        let options = options
        let reloading = ReloadService(gateway: gateway, logger: logger) { try options.read() }
        try await ProcessServices.run([reloading, service], logger: logger)
    }
}
