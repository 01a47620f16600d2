import CFuse3
import CLibrary

/// Passes a request to its view, which exists because the session does, and replies with the error if there is one. At
/// file scope, because C functions cannot capture.
private func answer(_ request: fuse_req_t?, _ body: (View, fuse_req_t) throws -> Void) {
    guard let request, case .success(let fuse) = Fuse3.loaded, let data = fuse.userData(request) else { return }
    do {
        try body(Unmanaged<View>.fromOpaque(data).takeUnretainedValue(), request)
    } catch {
        // The view throws no other errors.
        _ = fuse.replyError(request, (error as? Errno ?? Errno(EIO)).code)
    }
}

/// Does the same for a request that has no other reply than success.
private func reply(_ request: fuse_req_t?, _ body: (View) throws -> Void) {
    answer(request) { view, request in
        try body(view)
        _ = view.fuse.replyError(request, 0)
    }
}

/// The functions that libfuse calls for the kernel's requests. Each one finds the view and passes the request on.
enum Requests {
    static func table() -> fuse_lowlevel_ops {
        var table = fuse_lowlevel_ops()
        table.`init` = { _, connection in
            guard let connection else { return }
            MountSession.configure(&connection.pointee)
        }
        addNames(&table)
        addFiles(&table)
        addFolders(&table)
        addAttributes(&table)
        return table
    }

    private static func addNames(_ table: inout fuse_lowlevel_ops) {
        table.lookup = { request, parent, name in
            guard let name else { return }
            answer(request) { view, request in try view.lookUp(request, parent, name) }
        }
        table.forget = { request, number, count in
            answer(request) { view, request in
                view.nodes.forget(number, count)
                view.fuse.replyNone(request)
            }
        }
        table.forget_multi = { request, count, forgotten in
            answer(request) { view, request in
                for one in UnsafeBufferPointer(start: forgotten, count: count) {
                    view.nodes.forget(one.ino, one.nlookup)
                }
                view.fuse.replyNone(request)
            }
        }
        table.readlink = { request, number in
            answer(request) { view, request in try view.readLink(request, number) }
        }
        table.symlink = { request, target, parent, name in
            guard let target, let name else { return }
            answer(request) { view, request in try view.reply(request, view.makeLink(request, target, parent, name)) }
        }
        table.link = { request, number, parent, name in
            guard let name else { return }
            answer(request) { view, request in try view.reply(request, view.addName(number, parent, name)) }
        }
        table.unlink = { request, parent, name in
            guard let name else { return }
            reply(request) { view in try view.removeName(parent, name) }
        }
        table.rename = { request, parent, name, newParent, newName, flags in
            guard let name, let newName else { return }
            reply(request) { view in try view.rename(parent, name, newParent, newName, flags) }
        }
    }

    private static func addFiles(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, name, mode, info in
            guard let name, let info else { return }
            answer(request) { view, request in try view.create(request, parent, name, mode, info) }
        }
        table.mknod = { request, parent, name, mode, _ in
            guard let name else { return }
            answer(request) { view, request in try view.reply(request, view.makeNode(request, parent, name, mode)) }
        }
        table.open = { request, number, info in
            guard let info else { return }
            answer(request) { view, request in try view.open(request, number, info) }
        }
        table.read = { request, number, count, offset, _ in
            answer(request) { view, request in try view.read(request, number, count, offset) }
        }
        table.write = { request, number, bytes, count, offset, info in
            guard let info else { return }
            answer(request) { view, request in
                try view.write(request, number, UnsafeRawBufferPointer(start: bytes, count: count), offset, info)
            }
        }
        table.flush = { request, number, _ in
            reply(request) { view in try view.flush(number) }
        }
        table.fsync = { request, number, _, _ in
            reply(request) { view in try view.synchronize(number) }
        }
        table.release = { request, number, _ in
            reply(request) { view in try view.release(number) }
        }
    }

    private static func addFolders(_ table: inout fuse_lowlevel_ops) {
        table.mkdir = { request, parent, name, mode in
            guard let name else { return }
            answer(request) { view, request in try view.reply(request, view.makeFolder(request, parent, name, mode)) }
        }
        table.rmdir = { request, parent, name in
            guard let name else { return }
            reply(request) { view in try view.removeFolder(parent, name) }
        }
        table.opendir = { request, number, info in
            guard let info else { return }
            answer(request) { view, request in try view.openFolder(request, number, info) }
        }
        table.readdir = { request, _, count, offset, info in
            guard let info else { return }
            answer(request) { view, request in try view.readFolder(request, count, offset, info, isPlus: false) }
        }
        table.readdirplus = { request, _, count, offset, info in
            guard let info else { return }
            answer(request) { view, request in try view.readFolder(request, count, offset, info, isPlus: true) }
        }
        table.releasedir = { request, _, info in
            guard let info else { return }
            answer(request) { view, request in view.closeFolder(request, info) }
        }
        table.fsyncdir = { request, number, _, _ in
            reply(request) { view in try view.synchronizeFolder(number) }
        }
    }

    private static func addAttributes(_ table: inout fuse_lowlevel_ops) {
        table.getattr = { request, number, info in
            answer(request) { view, request in try view.getAttributes(request, number, isOfOpenFile: info != nil) }
        }
        table.setattr = { request, number, wanted, which, _ in
            guard let wanted else { return }
            answer(request) { view, request in try view.setAttributes(request, number, wanted.pointee, which) }
        }
        table.statfs = { request, number in
            answer(request) { view, request in try view.examineSystem(request, number) }
        }
        table.getxattr = { request, number, name, room in
            guard let name else { return }
            answer(request) { view, request in try view.getAttribute(request, number, name, room) }
        }
        table.listxattr = { request, number, room in
            answer(request) { view, request in try view.listAttributes(request, number, room) }
        }
        table.setxattr = { request, number, name, value, count, flags in
            guard let name else { return }
            reply(request) { view in
                try view.setAttribute(number, name, UnsafeRawBufferPointer(start: value, count: count), flags)
            }
        }
        table.removexattr = { request, number, name in
            guard let name else { return }
            reply(request) { view in try view.removeAttribute(number, name) }
        }
    }
}
