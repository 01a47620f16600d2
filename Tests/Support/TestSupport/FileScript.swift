import Foundation
import KeychainModel
import ProtectedFiles

/// Changes to a protected file, with the data after each change. The same seed gives the same changes.
package struct FileScript {
    package enum Operation {
        case write(Data, at: UInt64)
        case append(Data)
        case truncate(UInt64)
        case changeClass(FileProtectionClass)
    }

    /// The boundary of a change in bytes: no change crosses a multiple of it.
    private static let step = 1 << 20

    package private(set) var data: Data
    private var random: SeededGenerator
    private let limit: Int

    /// - Parameter limit: The largest length of the data, approximately.
    package init(seed: UInt64, data: Data = Data(), limit: Int) {
        (self.data, self.limit) = (data, limit)
        random = SeededGenerator(seed: seed)
    }

    /// Returns the next change, which ``data`` then contains. Each change is one step: it is done as a whole or not at
    /// all.
    package mutating func next() -> Operation {
        let place = random.int(below: data.count + 1 + random.int(below: 200_000))
        switch random.int(below: 12) {
        case 0:
            let length = min(random.int(below: 3) == 0 ? place : max(0, data.count - random.int(below: 100_000)), limit)
            resize(length)
            return .truncate(UInt64(length))
        case 1:
            let length = min(data.count + random.int(below: limit / 4), limit)
            resize(length)
            return .truncate(UInt64(length))
        case 2:
            return .changeClass(FileProtectionClass.allCases[random.int(below: 4)])
        case 3...5 where data.count < limit:
            let bytes = bytes(from: data.count)
            put(bytes, at: data.count)
            return .append(bytes)
        default:
            let start = min(place, limit)
            let bytes = bytes(from: start)
            put(bytes, at: start)
            return .write(bytes, at: UInt64(start))
        }
    }

    private mutating func bytes(from start: Int) -> Data {
        let most = [100, 5_000, 70_000, 300_000][random.int(below: 4)]
        let count = min(1 + random.int(below: most), Self.step - start % Self.step)
        let seed = UInt8(random.int(below: 256))
        return Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) ^ UInt8(truncatingIfNeeded: $0 >> 8) ^ seed })
    }

    private mutating func resize(_ length: Int) {
        if length < data.count {
            data = Data(data.prefix(length))
        } else {
            data.append(Data(count: length - data.count))
        }
    }

    private mutating func put(_ bytes: Data, at start: Int) {
        if data.count < start + bytes.count { resize(start + bytes.count) }
        data.replaceSubrange(start..<(start + bytes.count), with: bytes)
    }
}

extension SealedFile {
    package func perform(_ operation: FileScript.Operation, keys: MemoryFileKeys) throws(SealedFileError) {
        switch operation {
        case .write(let data, let offset): try write(data, at: offset)
        case .append(let data): try append(data)
        case .truncate(let length): try truncate(to: length)
        case .changeClass(let fileClass): try changeClass(to: fileClass, keys: keys)
        }
    }
}
