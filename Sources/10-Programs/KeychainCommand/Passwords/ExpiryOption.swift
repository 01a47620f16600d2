import ArgumentParser
import FoundationEssentials
import KeychainModel

/// When a secret expires, on the command line.
struct ExpiryOption: ExpressibleByArgument {
    let expiry: Expiry

    init?(argument: String) {
        if argument == "never" {
            expiry = .never
        } else if let date = Moment.date(argument, direction: 1) {
            expiry = .at(date)
        } else {
            return nil
        }
    }
}
