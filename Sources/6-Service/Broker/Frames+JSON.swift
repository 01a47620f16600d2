import FoundationEssentials
import Frames

extension FrameBuffer {
    /// Appends a structure of text and numbers, as JSON.
    package func append(json value: some Encodable) {
        // Such a structure always can be encoded.
        append(String(decoding: (try? JSONEncoder().encode(value)) ?? Data(), as: UTF8.self))
    }
}

extension FrameReader {
    /// Reads what ``FrameBuffer/append(json:)`` wrote.
    ///
    /// - Parameter limit: In bytes.
    package mutating func json<Value: Decodable>(limit: Int) throws(FrameError) -> Value {
        let text = try string(limit: limit)
        guard let value = try? JSONDecoder().decode(Value.self, from: Data(text.utf8)) else {
            throw FrameError("a message that is not of this version")
        }
        return value
    }
}
