/// A queue whose ends are both cheap: an array that forgets its head now and then.
struct Fifo<Element: Sendable>: Sendable {
    private var storage: [Element?] = []
    private var head = 0

    /// Number of elements that ever left; the position of the oldest element.
    private(set) var firstPosition = 0

    /// The position that the next element will get.
    var endPosition: Int { firstPosition + count }

    /// The element at a position between `firstPosition` and `endPosition`; positions stay while elements come and go.
    subscript(position position: Int) -> Element? {
        get { storage.indices.contains(index(position)) ? storage[index(position)] : nil }
        set {
            if storage.indices.contains(index(position)), position >= firstPosition {
                storage[index(position)] = newValue
            }
        }
    }

    /// Number of elements.
    var count: Int { storage.count - head }

    /// Whether nothing is queued.
    var isEmpty: Bool { head == storage.count }

    /// The oldest element.
    var first: Element? { head < storage.count ? storage[head] : nil }

    /// All elements, oldest first.
    var elements: [Element] { storage[head...].compactMap(\.self) }

    /// Queues an element.
    mutating func append(_ element: Element) {
        storage.append(element)
    }

    /// Takes the oldest element out.
    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        firstPosition += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: storage.count <= 1_024)
            head = 0
        } else if head > 64, head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Takes the oldest element out that fits, wherever it stands.
    mutating func removeFirst(where fits: (Element) -> Bool) -> Element? {
        guard let index = storage[head...].firstIndex(where: { $0.map(fits) ?? false }) else { return nil }
        guard index > head else { return popFirst() }
        return storage.remove(at: index)
    }

    /// Forgets everything.
    mutating func removeAll() {
        firstPosition += count
        storage.removeAll()
        head = 0
    }

    /// Keeps only elements that fit.
    mutating func keep(where fits: (Element) -> Bool) {
        let kept = elements.filter(fits)
        firstPosition += count - kept.count
        storage = kept
        head = 0
    }

    private func index(_ position: Int) -> Int {
        head + (position - firstPosition)
    }
}
