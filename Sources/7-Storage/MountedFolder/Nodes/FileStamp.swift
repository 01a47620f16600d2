import CFuse3
import CLibrary

/// Shows whether a file below was changed.
struct FileStamp: Equatable {
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    init(_ information: stat) {
        size = information.st_size
        (seconds, nanoseconds) = (information.st_mtim.tv_sec, information.st_mtim.tv_nsec)
    }
}
