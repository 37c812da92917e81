internal import FoundationEssentials
internal import JSONText
internal import LightstreamerClient
internal import SessionCore
internal import SessionPool

/// `/v1/clients/{id}/cookies`: the cookie jar of a client.
struct CookiesResource: Sendable {
    let services: Services

    /// `GET /v1/clients/{id}/cookies`.
    func list(_ call: Call) throws -> OperationResult {
        let client = try services.controlledClient(call)
        var reader = QueryReader(call.query)
        let url = reader.text("url")
        if let url, !ServerAddressRule.admits(url) { reader.refuse("url", ServerAddressRule.sentence) }
        try reader.finish()
        let cookies = client.core.cookies(forURL: url)
        return .response(.object { $0.objects("cookies", of: cookies) { write($1, to: &$0) } })
    }

    /// `POST /v1/clients/{id}/cookies`.
    func add(_ call: Call) throws -> OperationResult {
        let client = try services.controlledClient(call)
        let reader = try RequestBody.reader(of: call)
        reader.allow(only: ["url", "cookies"])
        let host = host(reader)
        let cookies = cookies(reader, host: host ?? "")
        try reader.refusals.finish()
        client.core.addCookies(cookies)
        return .response(Response(status: 204))
    }

    /// `DELETE /v1/clients/{id}/cookies`.
    func clear(_ call: Call) throws -> OperationResult {
        try services.controlledClient(call).core.cookieJar.removeAll()
        return .response(Response(status: 204))
    }

    private func write(_ cookie: Cookie, to json: inout JSONBytes) {
        json.member("name", cookie.name)
        json.member("value", cookie.value)
        json.member("domain", cookie.domain)
        json.member("hostOnly", cookie.isHostOnly)
        json.member("path", cookie.path)
        json.member("secure", cookie.isSecure)
        json.member("expires", cookie.expiry)
    }

    private func host(_ reader: ObjectReader) -> String? {
        if !reader.has("url") { reader.missing("url") }
        guard let url = reader.string("url") else { return nil }
        guard ServerAddressRule.admits(url), let address = ServerAddress(url) else {
            return reader.refused("url", ServerAddressRule.sentence)
        }
        return address.host
    }

    private func cookies(_ reader: ObjectReader, host: String) -> [Cookie] {
        guard let value = reader.object["cookies"] else {
            reader.missing("cookies")
            return []
        }
        guard let elements = value.array, !elements.isEmpty, elements.count <= 100 else {
            reader.refuse("cookies", "A list of 1 to 100 cookies is expected.")
            return []
        }
        return elements.enumerated().compactMap { index, element in
            let location = reader.path + ["cookies", "\(index)"]
            guard let object = element.object else {
                reader.refusals.refuse(location, "An object with name and value is expected.")
                return nil
            }
            return cookie(ObjectReader(object, at: location, reader.refusals), host: host)
        }
    }

    private func cookie(_ reader: ObjectReader, host: String) -> Cookie? {
        reader.allow(only: ["name", "value", "path", "secure", "maxAge"])
        for name in ["name", "value"] where !reader.has(name) { reader.missing(name) }
        let name = reader.string("name")
        let value = reader.string("value")
        let path = reader.string("path") ?? "/"
        if let name, !Self.isToken(name) { reader.refuse("name", "A cookie name is expected: an HTTP token.") }
        if let value, !Self.isValue(value) { reader.refuse("value", "A cookie value is expected, without quotes.") }
        if !Self.isPath(path) { reader.refuse("path", "A path is expected, without a semicolon.") }
        let isSecure = reader.bool("secure") ?? false
        let rule = "A whole number of seconds from 1 to 100000000 is expected."
        let age = reader.integer("maxAge", in: 1...100_000_000, rule)
        guard let name, let value else { return nil }
        return Cookie(
            name: name,
            value: value,
            domain: host,
            path: path,
            isHostOnly: true,
            isSecure: isSecure,
            expiry: age.map { Date().timeIntervalSince1970 + Double($0) }
        )
    }

    private static func isToken(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
    }

    private static func isValue(_ text: String) -> Bool {
        text.utf8.count <= 4096 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\",;\\".utf8.contains($0) }
    }

    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= 1001
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
    }
}
