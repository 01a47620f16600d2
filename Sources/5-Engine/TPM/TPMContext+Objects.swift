import Bytes
import CTSS2
import Crypto
import FoundationEssentials

/// Loads and uses objects with this package's own commands; ``KeySession`` says why.
extension TPMContext {
    /// Loads an object, passes it to `body` with the session for its use, and flushes it.
    ///
    /// - Parameter authorization: The authorization that the commands of `body` prove.
    func using<Result>(
        _ object: ObjectBlob, under parent: ESYS_HANDLE, authorization: SymmetricKey? = nil,
        _ body: (LoadedObject, KeySession) throws(TSSError) -> Result
    ) throws(TSSError) -> Result {
        let session = try keySession(under: parent)
        return try loading(object, under: parent, authorization: authorization) { loaded throws(TSSError) in
            if object.isGuarded { noteGuardedObject() }
            return try body(loaded, session)
        }
    }

    private func loading<Result>(
        _ object: ObjectBlob, under parent: ESYS_HANDLE, authorization: SymmetricKey? = nil,
        _ body: (LoadedObject) throws(TSSError) -> Result
    ) throws(TSSError) -> Result {
        let place = try number(of: parent)
        let load = CommandBytes(.load, hasSessions: true) { load in
            load.append(place)
            // The storage key has no authorization: an empty password with an empty nonce.
            load.append(UInt32(9))
            load.append(TPMConstant.passwordSession)
            load.append([0, 0, 0, 0, 0])
            load.append(object.privateBytes)
            load.append(object.publicBytes)
        }
        var answer = try answer(to: load, .load)
        let loaded = LoadedObject(
            handle: try answer.number32(), name: object.name, authorization: authorization)
        defer { flush(loaded.handle) }
        return try body(loaded)
    }

    func flush(_ handle: TPM2_HANDLE) {
        // Ignores the error: the object may already be gone.
        _ = try? answer(to: CommandBytes(.flushContext, hasSessions: false) { $0.append(handle) }, .flushContext)
    }

    func startKeySession(under parent: ESYS_HANDLE) throws(TSSError) -> KeySession {
        let (place, name) = (try number(of: parent), try name(of: parent))
        let command = CommandBytes(.readPublic, hasSessions: false) { $0.append(place) }
        var answer = try answer(to: command, .readPublic)
        let area = try answer.sized()
        // Any party in between could have sent this answer. Only the storage key itself has this name.
        guard ObjectBlob.name(ofPublicArea: answer.bytes[area]) == Array(name) else { throw .unprovenAnswer }
        if let point = ObjectBlob.point(ofPublicBytes: answer.bytes[area.lowerBound - 2..<area.upperBound], tss) {
            return try KeySession.start(in: self, with: place, at: point)
        }
        return try startKeySession(underOther: parent)
    }

    /// Starts a session under a storage key that is not on P-256, with a P-256 key that is made under it.
    private func startKeySession(underOther parent: ESYS_HANDLE) throws(TSSError) -> KeySession {
        var nothing = TPM2B_SENSITIVE_CREATE()
        // The stack's session proves that the public key comes from the TPM.
        let helper = try make(Template.key(signs: false, agrees: true), &nothing, under: parent)
        guard let point = helper.point else { throw .malformedAnswer }
        return try loading(helper, under: parent) { helper throws(TSSError) in
            try KeySession.start(in: self, with: helper.handle, at: point)
        }
    }

    // MARK: Transmission

    /// Returns the TPM's handle of an object that the stack has loaded.
    func number(of object: ESYS_HANDLE) throws(TSSError) -> TPM2_HANDLE {
        var number: TPM2_HANDLE = 0
        try check(tss.number(esys, object, &number), "GetTpmHandle")
        return number
    }

    /// Returns the bytes after the header of the TPM's answer to `command`.
    func answer(to bytes: CommandBytes, _ command: TPMCommand) throws(TSSError) -> AnswerBytes {
        var triesLeft = Self.mostTries
        while true {
            var answer = AnswerBytes(try transmit(bytes.bytes, command))
            _ = try answer.number16()
            guard try answer.number32() == answer.bytes.count else { throw .malformedAnswer }
            let status = try answer.number32()
            if status == 0 { return answer }
            triesLeft -= 1
            guard triesLeft > 0, TSSError.isWorthAnotherTry(status) else {
                throw TSSError(code: status, command: command.name)
            }
        }
    }

    /// The stack's own number of tries.
    private static let mostTries = 5

    private func transmit(_ bytes: [UInt8], _ command: TPMCommand) throws(TSSError) -> [UInt8] {
        guard let transport else { throw .noTransport }
        // Every transport begins with this struct (CTSS2, esys.h).
        let common = UnsafeRawPointer(transport).load(as: TCTI_CONTEXT_COMMON.self)
        guard let transmit = common.transmit, let receive = common.receive else { throw .noTransport }
        try check(transmit(transport, bytes.count, bytes), command.name)
        var answer = [UInt8](repeating: 0, count: TPMConstant.longestAnswer)
        var size = answer.count
        // Without a timeout: the waiting thread has its own deadline.
        try check(receive(transport, &size, &answer, -1), command.name)
        answer.removeSubrange(min(size, answer.count)...)
        return answer
    }
}
