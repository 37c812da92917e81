internal import Foundation

/// Standard output, unbuffered: a reader of the pipe receives each line at once.
enum StandardOutput {
    static func write(_ text: String) { FileHandle.standardOutput.writeIgnoringErrors(Data(text.utf8)) }
}

/// Standard error, unbuffered.
enum StandardError {
    static func write(_ text: String) { FileHandle.standardError.writeIgnoringErrors(Data(text.utf8)) }
    static func write(_ bytes: [UInt8]) { FileHandle.standardError.writeIgnoringErrors(Data(bytes)) }
}

extension FileHandle {
    /// A closed pipe does not end the program.
    fileprivate func writeIgnoringErrors(_ data: Data) { try? write(contentsOf: data) }
}
