extension [String?] {
    /// The row with one value replaced; the very same row if it already stands there.
    func replacing(_ position: Int, by value: String) -> [String?] {
        if self[position - 1] == value { return self }
        var row = self
        row[position - 1] = value
        return row
    }

    /// The positions whose values differ from those of another row of the same width; null and "" differ.
    func differences(from other: [String?]) -> FieldSet {
        var changed = FieldSet()
        for index in indices where index >= other.count || !Self.isSame(self[index], other[index]) {
            changed.insert(index + 1)
        }
        return changed
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.isSameText(as: right)
        case (nil, _?), (_?, nil): false
        }
    }
}
