import FoundationEssentials

extension Data {
    /// Returns the first range of `text`, as UTF-8, within `part`.
    ///
    /// - Parameter part: Nil for all of the data.
    package func firstRange(of text: String, in part: Range<Index>? = nil) -> Range<Index>? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first else { return nil }
        var rest = self[part ?? startIndex..<endIndex]
        while let place = rest.firstIndex(of: first) {
            rest = rest[place...]
            if rest.starts(with: wanted) { return place..<place + wanted.count }
            rest = rest.dropFirst()
        }
        return nil
    }
}
