import KeychainTesting
import LocalAuthentication
import TestSupport
import Testing

@testable import LocalAuthenticationServices

/// The ways in which a person can authenticate, and who hears of their changes.
@Suite struct EnvironmentTests {
    private final class Listener: NSObject, LAEnvironment.Observer, Sendable {
        /// The former and the present state of the sensor's being usable.
        let changes = Collected<[Bool?]>()

        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
            changes.append([oldState.biometry?.isUsable, environment.state.biometry?.isUsable])
        }
    }

    /// Leaves out what it need not have.
    private final class Deaf: NSObject, LAEnvironment.Observer {}

    @Test func theStateSaysWhatThereIs() throws {
        let world = try TestKeychain()
        try world.run {
            let environment = LAEnvironment.currentUser
            var state = environment.state
            var biometry = try #require(state.biometry)
            let password = try #require(state.userPassword)
            #expect(biometry.biometryType == .touchID)
            #expect(biometry.isUsable && biometry.isEnrolled && !biometry.isLockedOut)
            #expect(!biometry.builtInSensorInaccessible)
            #expect(biometry.stateHash == LAContext().domainState.biometry.stateHash)
            #expect((biometry.localizedName, biometry.iconSystemName) == ("Fingerprint", "touchid"))
            #expect(password.isUsable && password.isSet)
            #expect((password.localizedName, password.iconSystemName) == ("Passcode", "lock"))
            #expect(state.companions.isEmpty)
            #expect(state.allMechanisms == [biometry, password])
            #expect(state.copy() as? LAEnvironment.State === state)
            #expect(state == environment.state)

            world.changeBiometry()
            #expect(environment.state != state)
            #expect(environment.state.biometry?.stateHash != biometry.stateHash)

            world.biometry = .lockout
            biometry = try #require(environment.state.biometry)
            #expect(!biometry.isUsable && biometry.isEnrolled && biometry.isLockedOut)
            world.biometry = .notEnrolled
            biometry = try #require(environment.state.biometry)
            #expect(!biometry.isUsable && !biometry.isEnrolled && biometry.stateHash.isEmpty)
            world.biometry = .unavailable
            state = environment.state
            #expect(state.biometry == nil)
            #expect(state.allMechanisms == [state.userPassword])

            // A finger stands for the passcode, so there has to be one.
            world.biometry = .enrolled
            try world.setPasscode(present: false)
            state = environment.state
            #expect(state.biometry?.isUsable == false)
            #expect(state.userPassword?.isSet == false)
            #expect(state.userPassword?.isUsable == false)
        }
    }

    @Test func observersHearOfChanges() async throws {
        let world = try TestKeychain()
        try await world.run {
            let environment = LAEnvironment(interval: .milliseconds(1))
            let listener = Listener()
            let removed = Listener()
            let deaf = Deaf()
            for observer in [listener, removed] { environment.addObserver(observer) }
            // Twice is once.
            environment.addObserver(listener)
            environment.addObserver(deaf)
            environment.removeObserver(removed)
            world.biometry = .lockout
            try await suspendUntil("the lockout is heard of") { listener.changes.all.count == 1 }
            world.biometry = .enrolled
            try await suspendUntil("its end is heard of") { listener.changes.all.count == 2 }
            #expect(listener.changes.all == [[true, false], [false, true]])
            #expect(removed.changes.all.isEmpty)
            environment.removeObserver(listener)
            environment.removeObserver(deaf)
        }
    }

    @Test func observersOfDifferentVaultsHearOfTheirOwn() async throws {
        let (mine, other) = (try TestKeychain(), try TestKeychain())
        let environment = LAEnvironment(interval: .milliseconds(1))
        let (listener, stranger) = (Listener(), Listener())
        mine.run { environment.addObserver(listener) }
        other.run { environment.addObserver(stranger) }
        mine.biometry = .unavailable
        try await suspendUntil("the change is heard of") { !listener.changes.all.isEmpty }
        #expect(listener.changes.all == [[true, nil]])
        #expect(stranger.changes.all.isEmpty)
    }

    @Test func theEnvironmentKeepsNoObserver() async throws {
        let world = try TestKeychain()
        let environment = LAEnvironment(interval: .milliseconds(1))
        let witness = Listener()
        weak var gone: Listener?
        do {
            let listener = Listener()
            gone = listener
            world.run { environment.addObserver(listener) }
        }
        try await suspendUntil("the observer is gone") { gone == nil }
        world.run { environment.addObserver(witness) }
        world.biometry = .lockout
        try await suspendUntil("others hear of changes") { witness.changes.all.count == 1 }
    }

    @Test func thereAreNoPairedDevices() throws {
        let world = try TestKeychain()
        world.run {
            let companion = LAContext().domainState.companion
            #expect(companion.availableCompanionTypes.isEmpty)
            #expect(companion.stateHash == nil)
            for type in LACompanionType.allCases { #expect(companion.stateHash(for: type) == nil) }
        }
    }
}
