internal import StreamIO

/// Who of those in step gets the same in a pass: those who read the same of the channels that have something new.
///
/// Channels are looked at one after the other. A reader moves from its group to the one that has the channel in addition,
/// so that in the end those with the same channels are together, without any set being compared.
///
///     channel 0      {0} ← a b c
///     channel 1      {0,1} ← b c     {1} ← d
///     channel 2      {0,1,2} ← c                   a: {0}   b: {0,1}   c: {0,1,2}   d: {1}
struct NewsGroups {
    /// Readers that get the same.
    struct Group {
        /// The channels, by their places among those with something new.
        let channels: [Int]
        /// How they are written.
        let variant: EventVariant
        /// The streams of the readers.
        var streams: [StreamID] = []
        fileprivate let first: Int
    }

    private struct Step: Hashable {
        let from: Int
        let channel: Int
    }

    /// Where a reader is; the slot of its stream is the index. The readers themselves are not looked at: they are far away.
    private struct Mark {
        var pass: UInt64 = 0
        var group = 0
    }

    /// The groups; those that everybody left again are empty.
    private(set) var groups: [Group] = []
    private var steps: [Step: Int] = [:]
    private var marks: [Mark] = []

    /// Forms the groups of a pass.
    mutating func form(_ channels: [ShardChannel], pass: UInt64) {
        groups.removeAll(keepingCapacity: true)
        steps.removeAll(keepingCapacity: true)
        for place in channels.indices {
            channels[place].forEachStep { readers, variant in move(readers.streams, to: place, variant, pass) }
        }
        for place in channels.indices {
            channels[place].forEachStep { readers, _ in settle(readers.streams, at: place) }
        }
    }

    private mutating func move(_ streams: [StreamID], to place: Int, _ variant: EventVariant, _ pass: UInt64) {
        // Neighbours mostly make the same step.
        var last = (from: Int.min, to: 0)
        for slot in streams.lazy.map(\.slot) {
            while marks.count <= slot { marks.append(Mark()) }
            let from = marks[slot].pass == pass ? marks[slot].group : -1
            if from != last.from { last = (from, group(after: Step(from: from, channel: place), variant)) }
            marks[slot] = Mark(pass: pass, group: last.to)
        }
    }

    private mutating func group(after step: Step, _ variant: EventVariant) -> Int {
        let step = step.from < 0 ? Step(from: -1 - variant.index, channel: step.channel) : step
        if let known = steps[step] { return known }
        let before = step.from < 0 ? [] : groups[step.from].channels
        let channels = before + [step.channel]
        groups.append(Group(channels: channels, variant: variant, first: channels[0]))
        steps[step] = groups.count - 1
        return groups.count - 1
    }

    /// Puts readers into the groups in which they ended, each at the first of its channels.
    private mutating func settle(_ streams: [StreamID], at place: Int) {
        for stream in streams where groups[marks[stream.slot].group].first == place {
            groups[marks[stream.slot].group].streams.append(stream)
        }
    }
}
