import CLibrary

/// File descriptors on their way from one process to another (SCM_RIGHTS, unix(7)).
package enum PassedDescriptors {
    /// The most descriptors of a message.
    private static let most = 12
    /// `struct cmsghdr` of socket(7): a length of 8 bytes, a level and a type.
    private static let head = 16
    /// The bytes of the greatest control message, in whole words.
    private static let space = 16 + (most * 4 + 7) / 8 * 8

    /// Sends a message with descriptors, which stay open here. Does not wait.
    ///
    /// - Parameter bytes: At least one, and few enough for one message.
    /// - Returns: False, with `errno` set.
    package static func send(_ descriptors: [Int32], with bytes: [UInt8], over socket: Int32) -> Bool {
        precondition(descriptors.count <= most && !bytes.isEmpty)
        var bytes = bytes
        let length = head + descriptors.count * 4
        return withUnsafeTemporaryAllocation(byteCount: space, alignment: 8) { control in
            control.initializeMemory(as: UInt8.self, repeating: 0)
            control.storeBytes(of: length, as: Int.self)
            control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
            control.storeBytes(of: rights, toByteOffset: 12, as: Int32.self)
            for (index, descriptor) in descriptors.enumerated() {
                control.storeBytes(of: descriptor, toByteOffset: head + index * 4, as: Int32.self)
            }
            let count = withMessage(&bytes, control, descriptors.isEmpty ? 0 : (length + 7) / 8 * 8) { message in
                SystemCall.retryOnInterrupt {
                    sendmsg(socket, &message, Int32(truncatingIfNeeded: MSG_NOSIGNAL | MSG_DONTWAIT))
                }
            }
            return count == bytes.count
        }
    }

    /// Receives a message, and waits for it.
    ///
    /// - Parameter most: The most bytes of the message; the rest of a longer one is lost.
    /// - Returns: Nil at the end of the connection or after a failure. The caller closes the descriptors, which no
    ///   child inherits.
    package static func receive(_ most: Int = 4096, from socket: Int32) -> (bytes: [UInt8], descriptors: [Int32])? {
        var bytes = [UInt8](repeating: 0, count: most)
        return withUnsafeTemporaryAllocation(byteCount: space, alignment: 8) { control in
            control.initializeMemory(as: UInt8.self, repeating: 0)
            var received = 0
            let count = withMessage(&bytes, control, space) { message in
                let count = SystemCall.retryOnInterrupt {
                    // MSG_CMSG_CLOEXEC (linux/socket.h), which the overlay does not have.
                    recvmsg(socket, &message, 0x4000_0000)
                }
                received = Int(clamping: message.msg_controllen)
                return count
            }
            guard count > 0 else { return nil }
            return (Array(bytes.prefix(count)), descriptors(in: control, received))
        }
    }

    private static func descriptors(in control: UnsafeMutableRawBufferPointer, _ received: Int) -> [Int32] {
        guard received >= head, control.load(fromByteOffset: 8, as: Int32.self) == SOL_SOCKET,
            control.load(fromByteOffset: 12, as: Int32.self) == rights
        else { return [] }
        let length = min(control.load(as: Int.self), received)
        return stride(from: head, through: length - 4, by: 4).map { control.load(fromByteOffset: $0, as: Int32.self) }
    }

    private static func withMessage(
        _ bytes: inout [UInt8], _ control: UnsafeMutableRawBufferPointer, _ length: Int,
        _ body: (inout msghdr) -> Int
    ) -> Int {
        bytes.withUnsafeMutableBytes { bytes in
            var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
            return withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                message.msg_iov = part
                message.msg_iovlen = 1
                message.msg_control = length > 0 ? control.baseAddress : nil
                message.msg_controllen = .init(clamping: length)
                return body(&message)
            }
        }
    }

    /// SCM_RIGHTS (asm-generic/socket.h), which the overlay has under another type.
    private static let rights: Int32 = 1
}
