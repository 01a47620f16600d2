/// How asking a person ends in a ``TestKeychain``. The raw values are the names of `LAError`'s codes.
public enum TestAuthentication: String, Sendable, Hashable, CaseIterable {
    /// The person proves who they are, every time.
    case succeeds
    /// The first prompt succeeds; each later one fails, so a test can see that there was only one.
    case succeedsOnce
    /// The finger, face or passcode was not the right one.
    case authenticationFailed
    /// The person pressed Cancel.
    case userCancel
    /// The person asked for another way.
    case userFallback
    /// The system took the prompt away.
    case systemCancel
    /// The program took the prompt away.
    case appCancel
    /// There is no passcode to ask for.
    case passcodeNotSet
    /// There is no sensor.
    case biometryNotAvailable
    /// No finger or face is enrolled.
    case biometryNotEnrolled
    /// Too many attempts: the sensor waits for the passcode.
    case biometryLockout
    /// The context was invalidated.
    case invalidContext
    /// There is no watch or phone near.
    case companionNotAvailable
    /// The removable sensor is not paired.
    case biometryNotPaired
    /// The removable sensor is not connected.
    case biometryDisconnected
    /// A prompt would have been needed and there was no way to show one.
    case notInteractive
}

/// What the device of a ``TestKeychain`` knows about fingers and faces.
public enum TestBiometry: String, Sendable, Hashable, CaseIterable {
    /// There is a sensor and somebody is enrolled.
    case enrolled
    /// There is a sensor and nobody is enrolled.
    case notEnrolled
    /// There was a number of failed attempts: the sensor waits for the passcode.
    case lockout
    /// There is no sensor.
    case unavailable
}
