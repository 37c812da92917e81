internal import JSONText
internal import LightstreamerClient

/// Connection details as REST shows them: never the password.
enum DetailsView {
    /// All details of a client.
    static func write(_ details: ConnectionDetails, to json: inout JSONBytes) {
        json.beginObject()
        json.member("serverAddress", details.serverAddress)
        json.member("adapterSet", details.adapterSet)
        json.member("user", details.user)
        json.member("certificatePins", details.certificatePins)
        writeSession(details, to: &json)
        json.endObject()
    }

    /// The four that the session brings.
    static func writeSession(_ details: ConnectionDetails, to json: inout JSONBytes) {
        json.member("sessionId", details.sessionId)
        json.member("serverInstanceAddress", details.serverInstanceAddress)
        json.member("serverSocketName", details.serverSocketName)
        json.member("clientIp", details.clientIp)
    }

    /// Writes the value of one detail; false for a name that is none, or is never shown.
    static func write(_ name: String, of details: ConnectionDetails, to json: inout JSONBytes) -> Bool {
        switch name {
        case "serverAddress": json.string(details.serverAddress)
        case "adapterSet": json.string(details.adapterSet)
        case "user": json.string(details.user)
        case "sessionId": json.string(details.sessionId)
        case "serverInstanceAddress": json.string(details.serverInstanceAddress)
        case "serverSocketName": json.string(details.serverSocketName)
        case "clientIp": json.string(details.clientIp)
        case "certificatePins":
            json.beginArray()
            for pin in details.certificatePins { json.string(pin) }
            json.endArray()
        default: return false
        }
        return true
    }
}
