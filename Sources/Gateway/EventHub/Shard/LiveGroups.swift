internal import StreamIO

/// Divides the live readers of the channels that have new events into groups of those that read the same channels.
///
/// Channels are processed one after the other. A reader of a channel moves from its group to the one that has the
/// channel in addition. In the end, readers of the same channels are in the same group, without any comparison of sets.
///
///     channel 0      {0} ← a b c
///     channel 1      {0,1} ← b c     {1} ← d
///     channel 2      {0,1,2} ← c                   a: {0}   b: {0,1}   c: {0,1,2}   d: {1}
struct LiveGroups {
    /// Readers of the same channels in the same variants.
    struct Group {
        /// The last of the channels, by its place among those with new events.
        let channel: Int
        /// The group of the channels before it; nil: none.
        let parent: Int?
        let variant: EventVariant
        var streams: [StreamID] = []
        fileprivate let first: Int
    }

    private struct Step: Hashable {
        let from: Int
        let channel: Int
        let variant: Int
    }

    /// The present group of a reader, at the slot of its stream. The readers themselves are not visited: they would not
    /// be in the processor's cache.
    private struct Mark {
        var pass: UInt64 = 0
        var group = 0
    }

    /// The groups. A group that all its readers have left is empty.
    private(set) var groups: [Group] = []
    private var steps: [Step: Int] = [:]
    private var marks: [Mark] = []

    /// The channels of a group, in order, each with its variant.
    func channels(of group: Group) -> [(place: Int, variant: EventVariant)] {
        // Computed for the final groups only: an array for each step would cost the square of the number of channels.
        var channels = [(place: group.channel, variant: group.variant)]
        var parent = group.parent
        while let index = parent {
            channels.append((groups[index].channel, groups[index].variant))
            parent = groups[index].parent
        }
        return channels.reversed()
    }

    mutating func form(_ channels: [ShardChannel], pass: UInt64) {
        groups.removeAll(keepingCapacity: true)
        steps.removeAll(keepingCapacity: true)
        for place in channels.indices {
            for group in channels[place].liveGroups { move(group.readers.streams, to: place, group.variant, pass) }
        }
        for place in channels.indices {
            for group in channels[place].liveGroups { settle(group.readers.streams, at: place) }
        }
    }

    private mutating func move(_ streams: [StreamID], to place: Int, _ variant: EventVariant, _ pass: UInt64) {
        // Consecutive readers usually move to the same group.
        var last = (from: Int.min, to: 0)
        for stream in streams {
            let slot = Int(stream.slot)
            while marks.count <= slot { marks.append(Mark()) }
            let from = marks[slot].pass == pass ? marks[slot].group : -1
            if from != last.from { last = (from, group(after: from, channel: place, variant)) }
            marks[slot] = Mark(pass: pass, group: last.to)
        }
    }

    private mutating func group(after from: Int, channel: Int, _ variant: EventVariant) -> Int {
        let step = Step(from: from, channel: channel, variant: variant.index)
        if let known = steps[step] { return known }
        let parent = from < 0 ? nil : from
        let first = parent.map { groups[$0].first } ?? channel
        groups.append(Group(channel: channel, parent: parent, variant: variant, first: first))
        steps[step] = groups.count - 1
        return groups.count - 1
    }

    /// Adds readers to their final groups, each at the first of its channels.
    private mutating func settle(_ streams: [StreamID], at place: Int) {
        for stream in streams {
            let group = marks[Int(stream.slot)].group
            if groups[group].first == place { groups[group].streams.append(stream) }
        }
    }
}
