extension String {
    /// The text with these bytes; nil unless they are UTF-8.
    ///
    /// The same as `String(validating:as:)`, which is generic and takes several times as long for a short text.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let text = try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span) else { return nil }
        self.init(copying: text)
    }
}
