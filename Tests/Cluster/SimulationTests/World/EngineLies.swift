import Replication
import TestSupport

/// What the engine shows some processes instead of its log.
struct EngineLies {
    /// Processes that fetch frames from a server that has only the first ones of the log.
    var stale: (processes: Set<Int>, count: Int)?
    /// Other bytes of frames, by the process that reads them and the index in the log.
    private var shown: [Int: [Int: [UInt8]]] = [:]
    /// The processes that cannot read a frame, by its index.
    private var lost: [Int: Set<Int>] = [:]
    /// A lie about the frames from an index on, which wait until it is complete.
    private var next: (lie: EngineLie, index: Int, bit: Int, processes: Set<Int>)?

    mutating func begin(_ lie: EngineLie, to processes: Set<Int>, at index: Int, bit: Int) {
        next = (lie, index, bit, processes)
    }

    mutating func lose(_ index: Int, for processes: Set<Int>) { lost[index] = processes }

    /// The log has lost all frames from an index on.
    mutating func forget(from index: Int) {
        shown = shown.mapValues { $0.filter { $0.key < index } }
        lost = lost.filter { $0.key < index }
        next = nil
    }

    /// The indexes of the frames to deliver after a frame was appended.
    mutating func appended(to log: [[UInt8]]) -> Range<Int> {
        guard let next, log.count > next.index else { return log.count - 1..<log.count }
        guard let bytes = next.lie.shown(log, from: next.index, bit: next.bit) else { return 0..<0 }
        for process in next.processes { shown[process, default: [:]].merge(bytes) { $1 } }
        self.next = nil
        return next.index..<log.count
    }

    /// A frame as a process reads it; nil: it cannot.
    func frame(_ index: Int, of log: [[UInt8]], for process: Int) -> StoredFrame? {
        if lost[index]?.contains(process) == true { return nil }
        return StoredFrame(position: UInt64(index) + 1, bytes: shown[process]?[index] ?? log[index])
    }

    /// The number of frames that a process can fetch.
    func end(of log: [[UInt8]], for process: Int) -> Int {
        if let stale, stale.processes.contains(process) { min(stale.count, log.count) } else { log.count }
    }
}
