package import Changes
internal import Primitives

/// An effect of a frame beyond the change of the ledger. A later record of the frame can take from a new owner what an earlier one
/// has given, as when two members are removed at once: the effect for the owner that the ledger has in the end counts.
package enum LedgerEffect: Sendable, Equatable {
    /// A change of the hub.
    case hub(Change)
    /// A member joined.
    case joined(UInt64)
    /// A member was removed.
    case removed(UInt64)
    /// A shared subscription has a new owner.
    case assigned(String, to: UInt64)
    /// The session of a client has a new owner, with the shared subscriptions that the client carries.
    case adopted(client: String, by: UInt64)
    /// A member has readers of a shared subscription.
    case interestAdded(String, by: UInt64)
    /// A member no longer has readers of a shared subscription.
    case interestRemoved(String)
    /// A shared subscription ended, and is removed from the hubs of members whose streams do not read it.
    case retired(String, wasSubscribed: Bool)
    /// A specified resource has a new owner.
    case inherited(String, by: UInt64)
    /// A removed member had streams that tickets have opened.
    case ticketsOrphaned(of: UInt64)
    /// A member has lost its prepared stream to another one, has never owned it, or has removed it.
    case streamLost(String, by: UInt64)
    /// A prepared stream has sources that it did not have before.
    case sourcesAdded(String)
    /// The claim at a position waits for the members to release the credits of an upstream that they do not use.
    case creditsSought(upstream: String, claim: UInt64)
    /// An action of one member.
    indirect case order(MemberAction, to: UInt64)
}

/// What a member does about the effects of a frame.
extension MemberMachine {
    mutating func perform(_ effects: [LedgerEffect], of entry: LogEntry, _ now: Moment) -> [MemberAction] {
        var changes: [Change] = []
        var actions: [MemberAction] = []
        if !handedOver.openings.isEmpty, let frame = entry.frame {
            actions += handedOver.read(frame.previous, by: frame.member)
        }
        // After a removal, the subscriptions of the removed member are assigned to others.
        var isTakeover = false
        for effect in effects {
            switch effect {
            case .hub(let change): changes.append(change)
            case .joined(let joined):
                monitor.joined(joined, at: now)
                if joined == member { actions.append(.openOutbox) }
            case .removed(let gone):
                isTakeover = true
                actions += memberRemoved(gone, by: entry.frame?.member, now)
            case .assigned(let id, let owner):
                guard let ledger, ledger.topics.byID[id]?.owner == owner else { continue }
                if isTakeover, owner == member { counters.takeovers += 1 }
                actions += carried.assigned(id, in: ledger, to: member, at: now)
            case .adopted(let client, let owner):
                guard owner == member, let ledger,
                    let session = carried.adopted(client, in: ledger, by: member, at: now)
                else { continue }
                counters.takeovers += UInt64(session.topics.count)
                counters.adoptions += 1
                actions.append(.adopt(session))
            case .interestAdded(let id, let other): actions += interestAdded(id, by: other)
            case .interestRemoved(let id): if let ledger { carried.noteInterest(id, in: ledger, at: now) }
            case .retired(let id, let wasSubscribed):
                if carried.remove(id) { actions.append(.drop(id)) }
                // The place of a change in the frame is the number of its event: there is one change, as on other members.
                changes.append(readers.end(of: id, wasSubscribed))
            case .inherited(let id, let owner):
                guard let resource = ledger?.specified[id], resource.owner == owner else { continue }
                actions.append(handedOver.inherited(id, resource, by: member))
            case .ticketsOrphaned(let gone): actions.append(.closeTickets(of: gone))
            case .sourcesAdded: noteAddition(effect, in: ledger, at: entry.position)
            case .streamLost(let id, let loser):
                noteAddition(effect, in: ledger, at: entry.position)
                guard loser == member else { continue }
                actions += handedOver.lost(id, to: entry.frame?.member, of: member, at: entry.position)
            case .creditsSought(let upstream, let claim):
                if ledger?.awaits(member, for: claim, of: upstream) == true {
                    actions.append(.releaseUnusedCredits(upstream: upstream, claim: claim))
                }
            case .order(let action, let other): if other == member { actions.append(action) }
            }
        }
        counters.frameEvents.record(Double(changes.count))
        return [.apply(changes, at: entry.position)] + actions
    }

    private mutating func memberRemoved(_ gone: UInt64, by remover: UInt64?, _ now: Moment) -> [MemberAction] {
        // A member that leaves by itself writes its removal.
        if gone == remover { counters.membersLeft += 1 } else { counters.membersSilent += 1 }
        if gone != remover, gone != member, let silence = monitor.silence(of: gone, at: now) {
            counters.failoverSeconds.record(silence / .seconds(1))
        }
        lastRemoval = now
        monitor.forget(gone)
        writer.removed(gone)
        if let ledger { carried.memberRemoved(in: ledger, at: now) }
        guard gone == member else { return [] }
        let actions = handedOver.releaseAll() + resetMembership() + [.keepUsedCredits]
        if isLeaving { return actions + [.left] }
        join()
        return actions
    }

    private mutating func interestAdded(_ id: String, by other: UInt64) -> [MemberAction] {
        let isCarried = carried.interestAdded(id)
        if other == member { readers.interestAdded(id) }
        guard ledger?.subscriptions[id]?.isActive == false else { return [] }
        return (readers.contains(id) ? [.reopened(id)] : []) + (isCarried ? [.reactivate(id)] : [])
    }

    /// Notes that a prepared stream has got sources by a frame, and forgets a removed one. `ledger`: the state after the frame.
    mutating func noteAddition(_ effect: LedgerEffect, in ledger: ClusterLedger?, at position: UInt64) {
        switch effect {
        case .sourcesAdded(let id): additions[id] = position
        case .streamLost(let id, _): if ledger?.specified[id] == nil { additions[id] = nil }
        default: break
        }
    }
}
