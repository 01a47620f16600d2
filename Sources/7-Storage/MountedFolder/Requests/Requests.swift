import CFuse3
import CLibrary

/// Returns the view of a request, which exists because the session does. At file scope, because C functions cannot
/// capture.
private func viewed(_ request: fuse_req_t?) -> (View, fuse_req_t)? {
    guard let request, case .success(let fuse) = Fuse3.loaded, let data = fuse.userData(request) else { return nil }
    return (Unmanaged<View>.fromOpaque(data).takeUnretainedValue(), request)
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
            guard let (view, request) = viewed(request), let name else { return }
            view.lookUp(request, parent, name)
        }
        table.forget = { request, number, count in
            guard let (view, request) = viewed(request) else { return }
            view.nodes.forget(number, count)
            view.fuse.replyNone(request)
        }
        table.forget_multi = { request, count, forgotten in
            guard let (view, request) = viewed(request) else { return }
            for one in UnsafeBufferPointer(start: forgotten, count: count) { view.nodes.forget(one.ino, one.nlookup) }
            view.fuse.replyNone(request)
        }
        table.readlink = { request, number in
            guard let (view, request) = viewed(request) else { return }
            view.readLink(request, number)
        }
        table.symlink = { request, target, parent, name in
            guard let (view, request) = viewed(request), let target, let name else { return }
            view.makeLink(request, target, parent, name)
        }
        table.link = { request, number, parent, name in
            guard let (view, request) = viewed(request), let name else { return }
            view.addName(request, number, parent, name)
        }
        table.unlink = { request, parent, name in
            guard let (view, request) = viewed(request), let name else { return }
            view.removeName(request, parent, name)
        }
        table.rename = { request, parent, name, newParent, newName, flags in
            guard let (view, request) = viewed(request), let name, let newName else { return }
            view.rename(request, parent, name, newParent, newName, flags)
        }
    }

    private static func addFiles(_ table: inout fuse_lowlevel_ops) {
        table.create = { request, parent, name, mode, info in
            guard let (view, request) = viewed(request), let name, let info else { return }
            view.create(request, parent, name, mode, info)
        }
        table.mknod = { request, parent, name, mode, _ in
            guard let (view, request) = viewed(request), let name else { return }
            view.makeNode(request, parent, name, mode)
        }
        table.open = { request, number, info in
            guard let (view, request) = viewed(request), let info else { return }
            view.open(request, number, info)
        }
        table.read = { request, number, count, offset, _ in
            guard let (view, request) = viewed(request) else { return }
            view.read(request, number, count, offset)
        }
        table.write = { request, number, bytes, count, offset, info in
            guard let (view, request) = viewed(request), let info else { return }
            view.write(request, number, UnsafeRawBufferPointer(start: bytes, count: count), offset, info)
        }
        table.flush = { request, number, _ in
            guard let (view, request) = viewed(request) else { return }
            view.flush(request, number)
        }
        table.fsync = { request, number, _, _ in
            guard let (view, request) = viewed(request) else { return }
            view.synchronize(request, number)
        }
        table.release = { request, number, _ in
            guard let (view, request) = viewed(request) else { return }
            view.release(request, number)
        }
    }

    private static func addFolders(_ table: inout fuse_lowlevel_ops) {
        table.mkdir = { request, parent, name, mode in
            guard let (view, request) = viewed(request), let name else { return }
            view.makeFolder(request, parent, name, mode)
        }
        table.rmdir = { request, parent, name in
            guard let (view, request) = viewed(request), let name else { return }
            view.removeFolder(request, parent, name)
        }
        table.opendir = { request, number, info in
            guard let (view, request) = viewed(request), let info else { return }
            view.openFolder(request, number, info)
        }
        table.readdir = { request, _, count, offset, info in
            guard let (view, request) = viewed(request), let info else { return }
            view.readFolder(request, count, offset, info, isPlus: false)
        }
        table.readdirplus = { request, _, count, offset, info in
            guard let (view, request) = viewed(request), let info else { return }
            view.readFolder(request, count, offset, info, isPlus: true)
        }
        table.releasedir = { request, _, info in
            guard let (view, request) = viewed(request), let info else { return }
            view.closeFolder(request, info)
        }
        table.fsyncdir = { request, number, _, _ in
            guard let (view, request) = viewed(request) else { return }
            view.synchronizeFolder(request, number)
        }
    }

    private static func addAttributes(_ table: inout fuse_lowlevel_ops) {
        table.getattr = { request, number, info in
            guard let (view, request) = viewed(request) else { return }
            view.getAttributes(request, number, isOfOpenFile: info != nil)
        }
        table.setattr = { request, number, wanted, which, _ in
            guard let (view, request) = viewed(request), let wanted else { return }
            view.setAttributes(request, number, wanted.pointee, which)
        }
        table.statfs = { request, number in
            guard let (view, request) = viewed(request) else { return }
            view.examineSystem(request, number)
        }
        table.getxattr = { request, number, name, room in
            guard let (view, request) = viewed(request), let name else { return }
            view.getAttribute(request, number, name, room)
        }
        table.listxattr = { request, number, room in
            guard let (view, request) = viewed(request) else { return }
            view.listAttributes(request, number, room)
        }
        table.setxattr = { request, number, name, value, count, flags in
            guard let (view, request) = viewed(request), let name else { return }
            view.setAttribute(request, number, name, UnsafeRawBufferPointer(start: value, count: count), flags)
        }
        table.removexattr = { request, number, name in
            guard let (view, request) = viewed(request), let name else { return }
            view.removeAttribute(request, number, name)
        }
    }
}
