import Bytes
import CTSS2
import Crypto
import Enclave
import FoundationEssentials

/// One conversation with a TPM. At its end, everything that it loaded is flushed.
///
/// For one thread at a time.
final class TPMContext {
    let tss: TSS
    private(set) var transport: OpaquePointer?
    private(set) var esys: OpaquePointer?
    let socket: ConversationSocket
    private var parent: Parent?
    private var session: ESYS_HANDLE?
    private var sessionForKeys: KeySession?
    /// Whether an object with counted wrong authorizations was used.
    private(set) var usedGuardedObject = false
    private var holdsSecrets = false

    struct Parent {
        let name: Data
        let object: ESYS_HANDLE
        /// Whether the TPM stores it permanently.
        let isStored: Bool
    }

    /// - Parameter address: The address for the stack's loader of transports.
    init(_ tss: TSS, at address: String) throws(TSSError) {
        self.tss = tss
        var opened: OpaquePointer?
        let opening = tss.initializeTransport(address, &opened)
        guard opening == 0 else { throw TSSError(code: opening, command: "Connect") }
        transport = opened
        socket = ConversationSocket(of: opened)
        let status = tss.initialize(&esys, transport, nil)
        guard status == 0 else {
            socket.end()
            tss.finalizeTransport(&transport)
            throw TSSError(code: status, command: "Connect")
        }
    }

    /// Flushes everything and closes the connection.
    ///
    /// - Parameter isLost: Whether the TPM has already lost everything that was loaded.
    func end(isLost: Bool = false) {
        guard esys != nil else { return }
        scrub()
        if !isLost {
            if let session { _ = tss.flush(esys, session) }
            if let sessionForKeys { flush(sessionForKeys.handle) }
            dropParent()
        }
        tss.finalize(&esys)
        socket.end()
        tss.finalizeTransport(&transport)
        esys = nil
    }

    func check(_ status: UInt32, _ command: String) throws(TSSError) {
        guard status == 0 else { throw TSSError(code: status, command: command) }
    }

    // MARK: Parents

    /// Loads the storage key with `name`, unless it is loaded already.
    ///
    /// - Returns: Nil if this TPM has no such key.
    func parent(named name: Data) throws(TSSError) -> ESYS_HANDLE? {
        if let parent, parent.name == name { return parent.object }
        dropParent()
        // Looks for a stored key first, because making one takes time.
        if let stored = try storedRootKey() {
            if stored.name == name { return use(stored) }
            drop(stored)
        }
        let made = try makePrimary(in: Handle.owner, from: Template.storageRootKey)
        if made.name == name { return use(made) }
        drop(made)
        return nil
    }

    /// Loads a storage key for a new enclave: the one of the template, or the owner's stored one if the template needs
    /// the owner's password.
    func chooseParent() throws(TSSError) -> Parent {
        dropParent()
        let chosen: Parent
        do throws(TSSError) {
            chosen = try makePrimary(in: Handle.owner, from: Template.storageRootKey)
        } catch {
            guard error.kind == .wrongAuthorization, let stored = try storedRootKey() else { throw error }
            chosen = stored
        }
        parent = chosen
        return chosen
    }

    /// Returns the name of the key that identifies this TPM, also after it was cleared; nil if that needs the owner's
    /// password.
    func identity() throws(TSSError) -> Data? {
        do throws(TSSError) {
            let key = try makePrimary(in: Handle.endorsement, from: Template.identity)
            drop(key)
            return key.name
        } catch {
            guard error.kind == .wrongAuthorization else { throw error }
            return nil
        }
    }

    private func use(_ key: Parent) -> ESYS_HANDLE {
        parent = key
        return key.object
    }

    private func makePrimary(in hierarchy: ESYS_HANDLE, from template: TPM2B_PUBLIC) throws(TSSError) -> Parent {
        var object = Handle.none
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var template = template
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        try check(
            tss.createPrimary(
                esys, hierarchy, Handle.password, Handle.none, Handle.none, &sensitive, &template, &outside,
                &registers, &object, nil, nil, nil, nil), "CreatePrimary")
        return Parent(name: try name(of: object), object: object, isStored: false)
    }

    private func storedRootKey() throws(TSSError) -> Parent? {
        var object = Handle.none
        let status = tss.handle(esys, TPMConstant.storageRootKey, Handle.none, Handle.none, Handle.none, &object)
        do throws(TSSError) {
            try check(status, "ReadPublic")
        } catch {
            guard error.kind == .noSuchHandle else { throw error }
            return nil
        }
        return Parent(name: try name(of: object), object: object, isStored: true)
    }

    private func dropParent() {
        if let parent { drop(parent) }
        parent = nil
    }

    private func drop(_ key: Parent) {
        var object = key.object
        _ = key.isStored ? tss.closeHandle(esys, &object) : tss.flush(esys, object)
    }

    func name(of object: ESYS_HANDLE) throws(TSSError) -> Data {
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        try check(tss.name(esys, object, &name), "GetName")
        defer { tss.free(name) }
        return name?.pointee.data ?? Data()
    }

    // MARK: Sessions

    /// Returns the stack's session, in which objects are made and the lockout is set. It proves authorizations without
    /// sending them, and encrypts the first parameter of commands and answers. Its key is agreed on with `parent`,
    /// whose name was checked, so that no party in between can replace the TPM.
    ///
    /// - Parameter encrypting: Which of command and answer has a parameter to encrypt.
    func session(under parent: ESYS_HANDLE, encrypting: Encrypted) throws(TSSError) -> ESYS_HANDLE {
        let session: ESYS_HANDLE
        if let present = self.session {
            session = present
        } else {
            var started = Handle.none
            var symmetric = Template.symmetric
            try check(
                tss.startSession(
                    esys, parent, Handle.none, Handle.none, Handle.none, Handle.none, nil, TPMConstant.hmacSession,
                    &symmetric, Algorithm.sha256, &started), "StartAuthSession")
            self.session = started
            session = started
        }
        var flags = SessionAttributes.continueSession
        if encrypting.contains(.command) { flags |= SessionAttributes.decrypt }
        if encrypting.contains(.answer) { flags |= SessionAttributes.encrypt }
        try check(tss.setSessionAttributes(esys, session, flags, 0xFF), "SetAttributes")
        return session
    }

    struct Encrypted: OptionSet {
        let rawValue: Int

        static let command = Encrypted(rawValue: 1)
        static let answer = Encrypted(rawValue: 2)
    }

    /// Returns the session for using loaded objects. Its key is also agreed on with `parent`.
    func keySession(under parent: ESYS_HANDLE) throws(TSSError) -> KeySession {
        if let sessionForKeys { return sessionForKeys }
        let started = try startKeySession(under: parent)
        sessionForKeys = started
        return started
    }

    // MARK: Objects

    /// Makes an object under `parent`.
    ///
    /// - Parameter sensitive: The authorization of the object, and its secret unless the TPM makes one.
    func make(
        _ template: TPM2B_PUBLIC, _ sensitive: inout TPM2B_SENSITIVE_CREATE, under parent: ESYS_HANDLE
    ) throws(TSSError) -> ObjectBlob {
        let session = try session(under: parent, encrypting: .command)
        if sensitive.sensitive.userAuth.size > 0 || sensitive.sensitive.data.size > 0 { holdsSecrets = true }
        var template = template
        var outside = TPM2B_DATA()
        var registers = TPML_PCR_SELECTION()
        var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var publicArea: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try check(
            tss.create(
                esys, parent, session, Handle.none, Handle.none, &sensitive, &template, &outside, &registers,
                &privateArea, &publicArea, nil, nil, nil), "Create")
        defer {
            tss.free(privateArea)
            tss.free(publicArea)
        }
        guard let privateArea, let publicArea,
            let made = ObjectBlob(publicArea: publicArea.pointee, privateArea: privateArea.pointee, tss)
        else { throw .malformedAnswer }
        return made
    }

    /// Overwrites the input of the last creation, which the stack keeps and would free without wiping. A creation with
    /// zeros replaces it.
    private func scrub() {
        guard holdsSecrets, let parent = parent?.object else { return }
        holdsSecrets = false
        var sensitive = TPM2B_SENSITIVE_CREATE()
        sensitive.sensitive.data = TPM2B_SENSITIVE_DATA([UInt8(0)])
        // The success of this command does not matter.
        _ = try? make(Template.sealed, &sensitive, under: parent)
    }

    func noteGuardedObject() { usedGuardedObject = true }

    func forgetGuardedObjects() { usedGuardedObject = false }
}
