/// The version of this program, which is also that of its contract, `openapi.yaml`.
package enum GatewayVersion {
    /// As Semantic Versioning writes it.
    package static let text = "1.0.0"
}
