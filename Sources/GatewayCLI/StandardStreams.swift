internal import Foundation

/// Standard output, unbuffered: a reader of the pipe receives each line at once.
enum StandardOutput {
    /// Writes a text. Returns false if that is not possible, for instance because the reader of the pipe has gone.
    @discardableResult static func write(_ text: String) -> Bool {
        (try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))) != nil
    }
}

/// Standard error, unbuffered. What cannot be written is lost.
enum StandardError {
    static func write(_ text: String) { write(Array(text.utf8)) }
    static func write(_ bytes: [UInt8]) { try? FileHandle.standardError.write(contentsOf: Data(bytes)) }
}
