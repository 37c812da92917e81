/// The members of a JSON object, in order. Names are compared by bytes.
package struct JSONObject: Sendable, Hashable, RandomAccessCollection {
    /// One named value.
    package struct Member: Sendable, Hashable {
        /// The name.
        package var name: String
        /// The value.
        package var value: JSONValue

        /// A named value.
        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Equal names, by bytes, and equal values.
        package static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }

        /// Feeds name and value to a hasher.
        package func hash(into hasher: inout Hasher) {
            name.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    private var members: [Member]

    /// An object with these members, kept as they are.
    package init(_ members: [Member] = []) { self.members = members }

    /// The first position, 0.
    package var startIndex: Int { 0 }
    /// The position after the last member.
    package var endIndex: Int { members.count }
    /// The member at a position.
    package subscript(position: Int) -> Member { members[position] }

    /// The value of the member of a name, the last one if the name stands twice. Setting appends a new name, keeps
    /// the place of a known one, and with nil removes it.
    package subscript(name: String) -> JSONValue? {
        get { position(of: name).map { members[$0].value } }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): members.remove(at: position)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The position of the member of a name.
    package func position(of name: String) -> Int? {
        members.lastIndex { $0.name.hasSameBytes(as: name) }
    }
}
