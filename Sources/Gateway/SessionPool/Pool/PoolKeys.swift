internal import JSONText
package import SessionCore

/// The identity of a pooled subscription: subscriptions with equal keys are shared.
package struct SharedKey: Hashable, Sendable {
    package let session: SessionKey
    /// The parameters of its `add` request.
    package let properties: SubscriptionProperties

    package init(session: SessionKey, properties: SubscriptionProperties) {
        self.session = session
        self.properties = properties
    }
}

/// The upstream and the credentials that a pooled session is opened with: sessions are shared only where both agree.
package struct SessionKey: Hashable, Sendable {
    package let upstream: String
    package let user: String?
    package let password: String?
    /// The group of subscriptions that another process may continue together, in one session; nil: none.
    package let group: UInt64?

    package init(upstream: String, user: String?, password: String?, group: UInt64? = nil) {
        self.upstream = upstream
        self.user = user
        self.password = password
        self.group = group
    }

    /// Equal bytes: the server keeps canonically equivalent users apart.
    package static func == (left: SessionKey, right: SessionKey) -> Bool {
        guard left.group == right.group else { return false }
        return left.hasSameAccount(as: right)
    }

    func hasSameAccount(as other: SessionKey) -> Bool {
        guard upstream.hasSameBytes(as: other.upstream), user.hasSameBytes(as: other.user) else { return false }
        return password.hasSameBytes(as: other.password)
    }

    package func hash(into hasher: inout Hasher) {
        upstream.hashBytes(into: &hasher)
        user?.hashBytes(into: &hasher)
        password?.hashBytes(into: &hasher)
        hasher.combine(group)
    }
}

/// The id of one shared upstream subscription; never reused.
package struct SharedID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
