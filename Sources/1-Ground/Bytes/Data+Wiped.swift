import CLibrary
import FoundationEssentials

extension Data {
    /// The same bytes in memory of their own, which is wiped when the last copy of this value goes; the original
    /// is wiped now.
    ///
    /// For secrets that leave the engine as `Data`. Copies that share the storage share the wiping; whoever copies
    /// the bytes elsewhere has a copy. Foundation keeps up to 14 bytes in the value itself and not in storage:
    /// those go with whatever holds the value.
    package static func wipedWhenFreed(_ original: consuming Data) -> Data {
        var original = original
        defer { original.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        let count = original.count
        guard count > 0, let base = malloc(count) else { return original }
        original.copyBytes(to: base.assumingMemoryBound(to: UInt8.self), count: count)
        return wipedWhenFreed(adopting: base, count: count)
    }

    /// `count` bytes of memory from `malloc`, which are wiped and freed when the last copy of this value goes.
    package static func wipedWhenFreed(adopting base: UnsafeMutableRawPointer, count: Int) -> Data {
        Data(
            bytesNoCopy: base, count: count,
            deallocator: .custom { base, count in
                explicit_bzero(base, count)
                free(base)
            })
    }

    /// `count` bytes that `fill` puts into memory, which is wiped when the last copy of the value goes, or at once when
    /// `fill` fails.
    ///
    /// - Parameter failure: What is thrown where there is no memory.
    package static func wipedWhenFreed<Failure: Error>(
        exactly count: Int, orOutOfMemory failure: @autoclosure () -> Failure,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> Data {
        // Room for at least a byte, because `fill` may want an address.
        guard let base = malloc(Swift.max(1, count)) else { throw failure() }
        let room = UnsafeMutableRawBufferPointer(start: base, count: count)
        do throws(Failure) {
            try fill(room)
        } catch {
            SecretBytes.wipe(room)
            free(base)
            throw error
        }
        return wipedWhenFreed(adopting: base, count: count)
    }

    /// Up to `capacity` bytes that `fill` puts into memory, all of which is wiped when the last copy of the value goes,
    /// or at once when `fill` fails.
    ///
    /// - Parameters:
    ///   - failure: What is thrown where there is no memory.
    ///   - fill: Returns how many bytes there are.
    package static func wipedWhenFreed<Failure: Error>(
        upTo capacity: Int, orOutOfMemory failure: @autoclosure () -> Failure,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Data {
        guard capacity > 0 else { return Data() }
        guard let base = malloc(capacity) else { throw failure() }
        let room = UnsafeMutableRawBufferPointer(start: base, count: capacity)
        do throws(Failure) {
            let filled = try fill(room)
            return Data(
                bytesNoCopy: base, count: filled,
                deallocator: .custom { base, _ in
                    explicit_bzero(base, capacity)
                    free(base)
                })
        } catch {
            SecretBytes.wipe(room)
            free(base)
            throw error
        }
    }
}

extension Data {
    /// Fresh bytes of the kernel's (getrandom(2)), which are wiped when the last copy of this value goes.
    package static func randomAndWiped(count: Int) -> Data {
        var bytes = [UInt8].random(count: count)
        defer { bytes.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        return bytes.withUnsafeBytes { .wipedWhenFreed(Data($0)) }
    }
}

extension Data {
    /// A copy of bytes, in memory that is wiped when the last copy of this value goes. The original stays.
    package static func wipedWhenFreed(copying bytes: UnsafeRawBufferPointer) -> Data {
        guard let source = bytes.baseAddress, !bytes.isEmpty, let base = malloc(bytes.count) else { return Data(bytes) }
        base.copyMemory(from: source, byteCount: bytes.count)
        return wipedWhenFreed(adopting: base, count: bytes.count)
    }
}

extension SecretBytes {
    /// The bytes as hexadecimal digits in ASCII, in memory that is wiped when the last copy of the value goes.
    package func hexadecimalDigits() -> Data {
        var digits = Data(capacity: 2 * count)
        withUnsafeBytes { bytes in
            for byte in bytes {
                let pair = byte.hexadecimalDigits()
                digits.append(pair.high)
                digits.append(pair.low)
            }
        }
        return .wipedWhenFreed(digits)
    }
}
