internal import JSONText
internal import LightstreamerClient

/// The present value of a connection property, in the form in which REST shows it.
enum ClientPropertyValue {
    /// The value; nil for the password, and for a name that is no property.
    static func json(of property: String, client: LightstreamerClient) -> JSONValue? {
        var json = JSONBytes()
        guard
            OptionsView.write(property, of: client.connectionOptions, to: &json)
                || DetailsView.write(property, of: client.connectionDetails, to: &json)
        else { return nil }
        return try? JSONValue(parsing: json.bytes)
    }
}
