import Bytes
import CLibrary
import SystemLibraries

/// The functions of Linux-PAM that check a password, with the constants of security/pam_appl.h.
struct PAM: Sendable {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Text = UnsafePointer<CChar>
    /// `struct pam_conv`.
    struct Conversation {
        var converse:
            @convention(c) (Int32, UnsafePointer<Pointer?>?, UnsafeMutablePointer<Pointer?>?, Pointer?) -> Int32
        var data: Pointer?
    }
    /// `struct pam_message`.
    struct Message {
        var style: Int32
        var text: Text?
    }
    /// `struct pam_response`.
    struct Response {
        var text: UnsafeMutablePointer<CChar>?
        var code: Int32
    }

    static let success: Int32 = 0
    static let conversationError: Int32 = 19
    static let promptEchoOff: Int32 = 1
    static let errorMessage: Int32 = 3
    static let textInfo: Int32 = 4
    /// PAM_DISALLOW_NULL_AUTHTOK and PAM_SILENT.
    static let flags: Int32 = 0x1 | 0x8000

    let start: @convention(c) (Text, Text, UnsafeRawPointer, UnsafeMutablePointer<Pointer?>) -> Int32
    let startIn: @convention(c) (Text, Text, UnsafeRawPointer, Text, UnsafeMutablePointer<Pointer?>) -> Int32
    let authenticate: @convention(c) (Pointer, Int32) -> Int32
    let end: @convention(c) (Pointer, Int32) -> Int32
    let explain: @convention(c) (Pointer?, Int32) -> Text?

    static let loaded: Result<PAM, SystemLibraryError> = Result { () throws(SystemLibraryError) in try PAM() }

    private init() throws(SystemLibraryError) {
        let library = try SystemLibrary("libpam.so.0", provides: "checking the login password")
        start = try library.function("pam_start")
        startIn = try library.function("pam_start_confdir")
        authenticate = try library.function("pam_authenticate")
        end = try library.function("pam_end")
        explain = try library.function("pam_strerror")
    }
}

/// The answer in a PAM conversation: the password, once.
final class PasswordReply {
    private let password: SecretBytes
    private var wasGiven = false

    init(_ password: SecretBytes) {
        self.password = password
    }

    /// Returns a copy, which PAM frees; nil the second time, because PAM may then ask for a one-time code.
    fileprivate func take() -> UnsafeMutablePointer<CChar>? {
        guard !wasGiven else { return nil }
        wasGiven = true
        return password.withUnsafeBytes { bytes in
            // PAM would cut the password at a NUL and check another password.
            guard !bytes.contains(0), let copy = malloc(bytes.count + 1) else { return nil }
            if let base = bytes.baseAddress { memcpy(copy, base, bytes.count) }
            copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
            return copy.assumingMemoryBound(to: CChar.self)
        }
    }
}

/// At file scope, because C calls it. `data` is a ``PasswordReply``.
func answerPAM(
    _ count: Int32, _ messages: UnsafePointer<PAM.Pointer?>?, _ answer: UnsafeMutablePointer<PAM.Pointer?>?,
    _ data: PAM.Pointer?
) -> Int32 {
    // PAM_MAX_NUM_MSG is 32.
    guard (1...32).contains(count), let messages, let answer, let data,
        let memory = calloc(Int(count), MemoryLayout<PAM.Response>.stride)
    else { return PAM.conversationError }
    let reply = Unmanaged<PasswordReply>.fromOpaque(data).takeUnretainedValue()
    let responses = memory.bindMemory(to: PAM.Response.self, capacity: Int(count))
    for index in 0..<Int(count) {
        let message = messages[index]?.assumingMemoryBound(to: PAM.Message.self).pointee
        switch message?.style {
        case PAM.errorMessage, PAM.textInfo: continue
        case PAM.promptEchoOff:
            responses[index].text = reply.take()
            if responses[index].text != nil { continue }
        default: break
        }
        // PAM asked for something that has no answer here.
        for response in UnsafeBufferPointer(start: responses, count: index) {
            guard let text = response.text else { continue }
            explicit_bzero(text, strlen(text))
            free(text)
        }
        free(memory)
        return PAM.conversationError
    }
    answer.pointee = memory
    return PAM.success
}
