/// How mobile push (MPN) requests are answered; no notification is ever pushed to a phone.
package enum MobilePushPolicy: Sendable, Hashable {
    /// Every MPN request is refused with code 40.
    case disabled
    /// Devices can be registered and their badges reset; there are no push subscriptions.
    case devicesOnly
}
