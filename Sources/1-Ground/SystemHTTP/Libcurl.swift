import CLibrary
import SystemLibraries

/// The functions of libcurl (curl/curl.h) that this module uses, and the numbers of its options.
struct Libcurl: Sendable {
    typealias Handle = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    /// Receives a part of the answer; any other number than that of its bytes ends the request.
    typealias Writer =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int

    /// The options that take a number (`long`) or a pointer.
    enum Option: UInt32, CaseIterable {
        case writeData = 10_001
        case url = 10_002
        case proxy = 10_004
        case postFields = 10_015
        case userAgent = 10_018
        case httpHeader = 10_023
        case noProgress = 43
        case post = 47
        case followLocation = 52
        case postFieldSize = 60
        case maximumRedirects = 68
        case noSignal = 99
        case maximumFileSize = 114
        case timeout = 155
        case connectTimeout = 156
        case protocols = 181
        case redirectProtocols = 182
        case quickExit = 322
        case writeFunction = 20_011
    }

    /// CURLcode (curl/curl.h).
    enum Code {
        static let success: Int32 = 0
        static let writeError: Int32 = 23
        static let memory: Int32 = 27
        static let timeout: Int32 = 28
        static let fileSizeExceeded: Int32 = 63
    }

    let make: @convention(c) () -> Handle?
    // libcurl declares these two with `...`. The calling conventions of Linux pass an integer or a pointer there as any
    // other argument (System V ABI for x86-64, 3.5.7; AAPCS64, 6.4.2), so a declaration with one argument more fits.
    let set: @convention(c) (Handle, UInt32, Int) -> Int32
    let information: @convention(c) (Handle, UInt32, UnsafeMutableRawPointer) -> Int32
    let perform: @convention(c) (Handle) -> Int32
    let free: @convention(c) (Handle) -> Void
    let explanation: @convention(c) (Int32) -> Text?
    let appendHeader: @convention(c) (OpaquePointer?, Text) -> OpaquePointer?
    let freeHeaders: @convention(c) (OpaquePointer?) -> Void

    /// The library, or the reason why it cannot be used. libcurl is set up once for the whole process
    /// (curl_global_init(3)).
    static let shared: Result<Libcurl, SystemLibraryError> = Result(catching: Libcurl.init)

    private init() throws(SystemLibraryError) {
        let library = try Self.library()
        make = try library.function("curl_easy_init")
        set = try library.function("curl_easy_setopt")
        information = try library.function("curl_easy_getinfo")
        perform = try library.function("curl_easy_perform")
        free = try library.function("curl_easy_cleanup")
        explanation = try library.function("curl_easy_strerror")
        appendHeader = try library.function("curl_slist_append")
        freeHeaders = try library.function("curl_slist_free_all")
        let start: @convention(c) (Int) -> Int32 = try library.function("curl_global_init")
        // CURL_GLOBAL_ALL
        guard start(3) == Code.success else {
            throw SystemLibraryError(library: library.name, symbol: "curl_global_init", provides: Self.use)
        }
    }

    private static let use = "requests over HTTP"

    /// The library with OpenSSL, or else the one with GnuTLS. A machine may have either.
    private static func library() throws(SystemLibraryError) -> SystemLibrary {
        do {
            return try SystemLibrary("libcurl.so.4", provides: use)
        } catch {
            guard let other = try? SystemLibrary("libcurl-gnutls.so.4", provides: use) else { throw error }
            return other
        }
    }

    // Each returns whether libcurl took the option.

    func set(_ option: Option, _ number: Int, of handle: Handle) -> Bool {
        set(handle, option.rawValue, number) == Code.success
    }

    func set(_ option: Option, _ pointer: UnsafeRawPointer?, of handle: Handle) -> Bool {
        set(option, Int(bitPattern: pointer), of: handle)
    }

    /// libcurl copies the text.
    func set(_ option: Option, _ text: String, of handle: Handle) -> Bool {
        text.withCString { set(option, UnsafeRawPointer($0), of: handle) }
    }

    func setWriter(_ writer: Writer, of handle: Handle) -> Bool {
        set(.writeFunction, unsafeBitCast(writer, to: Int.self), of: handle)
    }
}
