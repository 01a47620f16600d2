import Bytes
import CFuse3
import CLibrary
import Dispatch
import FoundationEssentials
import KeychainModel
import ProtectedFiles
import Synchronization
import SystemLibraries
import VaultInterface

/// A mounted view.
///
/// ``mount(_:at:keys:options:log:)`` mounts it. ``run()`` serves the kernel on several threads until the view is
/// unmounted.
// Safe to share between threads: any thread may call the session's functions, and the rest never changes.
package final class MountSession: @unchecked Sendable {
    package struct Options: Sendable {
        package var isReadOnly = false
        /// Whether other users may enter, as far as the modes of the files allow it.
        package var allowsOthers = false

        package init(isReadOnly: Bool = false, allowsOthers: Bool = false) {
            (self.isReadOnly, self.allowsOthers) = (isReadOnly, allowsOthers)
        }
    }

    /// Enough that some threads can wait for the disk or the vault while others work.
    private static let threadCount = 8

    /// libfuse and its program print the reason on standard error.
    private static let reason = "the reason is above"

    private let fuse: Fuse3
    private let session: OpaquePointer
    private let view: View
    private let folder: ViewFolder
    package let mountPoint: String

    private init(_ fuse: Fuse3, _ session: OpaquePointer, _ view: View, _ folder: ViewFolder, _ mountPoint: String) {
        (self.fuse, self.session, self.view, self.folder) = (fuse, session, view, folder)
        self.mountPoint = mountPoint
    }

    /// Checks that views can be mounted on this machine.
    ///
    /// - Throws: ``MountError/libraryMissing(_:)``.
    package static func checkLibrary() throws(MountError) {
        if case .failure(let error) = Fuse3.loaded { throw .libraryMissing(error) }
    }

    /// Mounts the view of a folder.
    ///
    /// - Parameters:
    ///   - mountPoint: The absolute path of an empty folder.
    ///   - log: Receives messages for a person, such as files that do not belong to the view.
    package static func mount(
        _ folder: ViewFolder, at mountPoint: String, keys: any FileKeySource, options: Options,
        log: @escaping @Sendable (String) -> Void
    ) throws(MountError) -> MountSession {
        let fuse: Fuse3
        switch Fuse3.loaded {
        case .success(let loaded): fuse = loaded
        case .failure(let error): throw .libraryMissing(error)
        }
        let view: View
        do throws(Errno) {
            view = try View(fuse, folder, keys: keys, reports: Reports(log))
        } catch {
            throw .system(operation: "open", path: folder.path, errno: error.code)
        }
        let session = try newSession(fuse, view, folder, options, mountPoint)
        guard fuse.mount(session, mountPoint) == 0 else {
            fuse.destroy(session)
            throw .refused(mountPoint: mountPoint, reason: reason)
        }
        view.cache.begin(fuse, session)
        return MountSession(fuse, session, view, folder, mountPoint)
    }

    private static func newSession(
        _ fuse: Fuse3, _ view: View, _ folder: ViewFolder, _ options: Options, _ mountPoint: String
    ) throws(MountError) -> OpaquePointer {
        // libfuse requires a backslash before a comma or backslash in a value.
        let source = folder.path.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
        var list = ["default_permissions", "nosuid", "nodev", "subtype=keychain", "fsname=\(source)"]
        if options.isReadOnly { list.append("ro") }
        if options.allowsOthers { list.append("allow_other") }
        var arguments: [UnsafeMutablePointer<CChar>?] = ["keychain", "-o", list.joined(separator: ",")]
            .map { (text: String) in strdup(text) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var table = Requests.table()
        let made = arguments.withUnsafeMutableBufferPointer { buffer in
            var parsed = fuse_args(argc: 3, argv: buffer.baseAddress, allocated: 0)
            // The view lives as long as this object, which ends the session first.
            return fuse.newSession(
                &parsed, &table, MemoryLayout<fuse_lowlevel_ops>.size, Unmanaged.passUnretained(view).toOpaque())
        }
        guard let made else { throw .refused(mountPoint: mountPoint, reason: reason) }
        return made
    }

    /// Sets the options for the kernel before its first request.
    static func configure(_ connection: inout fuse_conn_info) {
        // With its own rules, the kernel would drop its cache after each write. This module itself detects changes by
        // others.
        if connection.capable & KEYCHAIN_FUSE_EXPLICIT_INVAL_DATA != 0 {
            connection.want |= KEYCHAIN_FUSE_EXPLICIT_INVAL_DATA
            connection.want &= ~KEYCHAIN_FUSE_AUTO_INVAL_DATA
        }
        // The kernel removes S_ISUID and S_ISGID when a file is written.
        connection.want &= ~KEYCHAIN_FUSE_HANDLE_KILLPRIV
    }

    // MARK: Running

    /// Serves the kernel until the view is unmounted. Returns when everything is written.
    package func run() {
        let threads = DispatchGroup()
        var hasThread = false
        for _ in 0..<Self.threadCount {
            threads.enter()
            let hasStarted = DetachedThread.start("view", stackSize: 1 << 20) { [self] in
                serve()
                threads.leave()
            }
            if hasStarted { hasThread = true } else { threads.leave() }
        }
        if !hasThread { serve() }
        threads.wait()
        view.cache.end()
        view.writeEverything()
        fuse.unmount(session)
        fuse.destroy(session)
    }

    private func serve() {
        var buffer = fuse_buf()
        while fuse.hasExited(session) == 0 {
            let count = fuse.receive(session, &buffer)
            if count == -EINTR || count == -EAGAIN { continue }
            guard count > 0 else { break }
            fuse.process(session, &buffer)
        }
        // libfuse leaves the data of the last write there.
        if let memory = buffer.mem {
            SecretBytes.wipe(UnsafeMutableRawBufferPointer(start: memory, count: buffer.size))
            free(memory)
        }
        fuse.exit(session)
    }

    /// Reacts to the lock events of the vault. Returns at once; the events are handled in order.
    package func follow(_ events: AsyncStream<LockEvent>) {
        let queue = DispatchQueue(label: "keychain.mount.lock")
        // Writing before a lock may have to wait. The lock itself does not wait for it.
        let writing = DispatchQueue(label: "keychain.mount.write")
        let view = view
        Task.detached {
            for await event in events { (event == .willLock ? writing : queue).async { view.follow(event) } }
        }
    }

    /// Waits until this process no longer sees the view's mount and no program has a file of it open.
    ///
    /// Other processes may still see the mount: those that were started with a copy of all mounts
    /// (mount_namespaces(7)). ``run()`` continues for them.
    package func waitUntilOutOfSight() {
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        defer { if table >= 0 { close(table) } }
        while MountPoint.isView(mountPoint) {
            // proc(5): signals an exceptional condition at every mount and unmount.
            var entry = pollfd(fd: table, events: Int16(truncatingIfNeeded: POLLPRI), revents: 0)
            guard poll(&entry, 1, 60_000) >= 0 || errno == EINTR else { return }
        }
        while view.nodes.all.contains(where: { $0.contents?.isOpen == true }) { usleep(100_000) }
    }

    /// Writes everything and unmounts the view. Call it from another thread than ``run()``'s, which returns when no
    /// program uses the view any more.
    package func unmount() throws(MountError) {
        view.writeEverything()
        try MountPoint.unmount(mountPoint, lazily: true)
    }
}
