internal import CMicroHTTPD

/// Called for each header line while `HeaderCollection.collect` asks for them; the context points to the collection on
/// its stack. The bytes are copied.
func headerCallback(
    context: UnsafeMutableRawPointer?,
    kind: MHD_ValueKind,
    name: UnsafePointer<CChar>?,
    nameSize: Int,
    value: UnsafePointer<CChar>?,
    valueSize: Int
) -> MHD_Result {
    context?.assumingMemoryBound(to: HeaderCollection.self).pointee.add(
        name: UnsafeRawBufferPointer(start: name, count: nameSize),
        value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize)
    )
    return .YES
}
