import SystemLibraries

/// The functions of sd-bus, systemd's D-Bus client (systemd/sd-bus.h), that this module uses.
///
/// All return a negative errno after a failure. There are no variadic ones, because Swift cannot call those.
struct SDBus: Sendable {
    typealias Pointer = UnsafeMutableRawPointer
    typealias Out = UnsafeMutablePointer<UnsafeMutableRawPointer?>
    typealias Text = UnsafePointer<CChar>
    typealias Handler = @convention(c) (Pointer?, Pointer?, Pointer?) -> Int32

    let openSystem: @convention(c) (Out) -> Int32
    let new: @convention(c) (Out) -> Int32
    let setAddress: @convention(c) (Pointer, Text) -> Int32
    let setBusClient: @convention(c) (Pointer, Int32) -> Int32
    let setCallTimeout: @convention(c) (Pointer, UInt64) -> Int32
    let start: @convention(c) (Pointer) -> Int32
    let isReady: @convention(c) (Pointer) -> Int32
    let closeUnref: @convention(c) (Pointer) -> Pointer?

    let newMethodCall: @convention(c) (Pointer, Out, Text, Text, Text, Text) -> Int32
    let unref: @convention(c) (Pointer) -> Pointer?
    let appendBasic: @convention(c) (Pointer, CChar, UnsafeRawPointer?) -> Int32
    let call: @convention(c) (Pointer, Pointer, UInt64, Pointer, Out) -> Int32
    let freeError: @convention(c) (Pointer) -> Void

    let peekType: @convention(c) (Pointer, UnsafeMutablePointer<CChar>, UnsafeMutablePointer<Text?>) -> Int32
    let readBasic: @convention(c) (Pointer, CChar, UnsafeMutableRawPointer) -> Int32
    let enterContainer: @convention(c) (Pointer, CChar, Text?) -> Int32
    let exitContainer: @convention(c) (Pointer) -> Int32

    let setDescriptors: @convention(c) (Pointer, Int32, Int32) -> Int32
    // The identifier of the server is a struct of 16 bytes. The calling conventions of x86-64 and AArch64 pass it like
    // two integers.
    let setServer: @convention(c) (Pointer, Int32, UInt64, UInt64) -> Int32
    let setSender: @convention(c) (Pointer, Text) -> Int32
    let newReturn: @convention(c) (Pointer, Out) -> Int32
    let newSignal: @convention(c) (Pointer, Out, Text, Text, Text) -> Int32
    let newError: @convention(c) (Pointer, Out, Pointer) -> Int32
    let send: @convention(c) (Pointer, Pointer, UnsafeMutablePointer<UInt64>?) -> Int32
    let sendTo: @convention(c) (Pointer, Pointer, Text, UnsafeMutablePointer<UInt64>?) -> Int32
    let openContainer: @convention(c) (Pointer, CChar, Text) -> Int32
    let closeContainer: @convention(c) (Pointer) -> Int32
    let readArray:
        @convention(c) (Pointer, CChar, UnsafeMutablePointer<UnsafeRawPointer?>, UnsafeMutablePointer<Int>) ->
            Int32
    let setAnonymous: @convention(c) (Pointer, Int32) -> Int32
    let signature: @convention(c) (Pointer, Int32) -> Text?
    let negotiateDescriptors: @convention(c) (Pointer, Int32) -> Int32
    let queuedToWrite: @convention(c) (Pointer, UnsafeMutablePointer<UInt64>) -> Int32
    let requestName: @convention(c) (Pointer, Text, UInt64) -> Int32
    let sender: @convention(c) (Pointer) -> Text?
    let appendArray: @convention(c) (Pointer, CChar, UnsafeRawPointer?, Int) -> Int32
    let isMethodCall: @convention(c) (Pointer, Text?, Text?) -> Int32
    let expectsReply: @convention(c) (Pointer) -> Int32
    let setSensitive: @convention(c) (Pointer) -> Int32

    let addFilter: @convention(c) (Pointer, Out?, Handler, Pointer?) -> Int32
    let addMatch: @convention(c) (Pointer, Out?, Text, Handler, Pointer?) -> Int32
    let process: @convention(c) (Pointer, Out) -> Int32
    let descriptor: @convention(c) (Pointer) -> Int32
    let events: @convention(c) (Pointer) -> Int32
    let interface: @convention(c) (Pointer) -> Text?
    let member: @convention(c) (Pointer) -> Text?
    let path: @convention(c) (Pointer) -> Text?

    /// Loaded at the first use.
    static let loaded: Result<SDBus, SystemLibraryError> = Result(catching: SDBus.init)

    private init() throws(SystemLibraryError) {
        let library = try SystemLibrary("libsystemd.so.0", provides: "D-Bus")
        openSystem = try library.function("sd_bus_open_system")
        new = try library.function("sd_bus_new")
        setAddress = try library.function("sd_bus_set_address")
        setBusClient = try library.function("sd_bus_set_bus_client")
        setCallTimeout = try library.function("sd_bus_set_method_call_timeout")
        start = try library.function("sd_bus_start")
        isReady = try library.function("sd_bus_is_ready")
        closeUnref = try library.function("sd_bus_close_unref")
        newMethodCall = try library.function("sd_bus_message_new_method_call")
        unref = try library.function("sd_bus_message_unref")
        appendBasic = try library.function("sd_bus_message_append_basic")
        call = try library.function("sd_bus_call")
        freeError = try library.function("sd_bus_error_free")
        peekType = try library.function("sd_bus_message_peek_type")
        readBasic = try library.function("sd_bus_message_read_basic")
        enterContainer = try library.function("sd_bus_message_enter_container")
        exitContainer = try library.function("sd_bus_message_exit_container")
        setDescriptors = try library.function("sd_bus_set_fd")
        setServer = try library.function("sd_bus_set_server")
        setSender = try library.function("sd_bus_set_sender")
        newReturn = try library.function("sd_bus_message_new_method_return")
        newSignal = try library.function("sd_bus_message_new_signal")
        newError = try library.function("sd_bus_message_new_method_error")
        send = try library.function("sd_bus_send")
        sendTo = try library.function("sd_bus_send_to")
        openContainer = try library.function("sd_bus_message_open_container")
        closeContainer = try library.function("sd_bus_message_close_container")
        readArray = try library.function("sd_bus_message_read_array")
        setAnonymous = try library.function("sd_bus_set_anonymous")
        signature = try library.function("sd_bus_message_get_signature")
        negotiateDescriptors = try library.function("sd_bus_negotiate_fds")
        queuedToWrite = try library.function("sd_bus_get_n_queued_write")
        requestName = try library.function("sd_bus_request_name")
        sender = try library.function("sd_bus_message_get_sender")
        appendArray = try library.function("sd_bus_message_append_array")
        isMethodCall = try library.function("sd_bus_message_is_method_call")
        expectsReply = try library.function("sd_bus_message_get_expect_reply")
        setSensitive = try library.function("sd_bus_message_sensitive")
        addFilter = try library.function("sd_bus_add_filter")
        addMatch = try library.function("sd_bus_add_match")
        process = try library.function("sd_bus_process")
        descriptor = try library.function("sd_bus_get_fd")
        events = try library.function("sd_bus_get_events")
        interface = try library.function("sd_bus_message_get_interface")
        member = try library.function("sd_bus_message_get_member")
        path = try library.function("sd_bus_message_get_path")
    }
}

/// `sd_bus_error` (systemd/sd-bus.h).
struct SDBusError {
    var name: UnsafePointer<CChar>?
    var message: UnsafePointer<CChar>?
    var needsFree: Int32 = 0
}
