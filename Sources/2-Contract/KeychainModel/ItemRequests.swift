import Bytes
import FoundationEssentials

/// An item to be stored.
package struct NewItem: Sendable {
    package var itemClass: ItemClass
    /// What the caller set, already converted to the schema's kinds; without the attributes that have
    /// fields of their own below.
    package var attributes: ItemAttributes
    /// All of them; nil leaves those of an item that is there as they are.
    package var customAttributes: CustomAttributes?
    /// Nil leaves that of an item that is there, unless it is over.
    package var expiry: Expiry?
    /// Nil leaves that of an item that is there.
    package var kept: KeptVersions?
    /// Nil for the client's default group.
    package var accessGroup: String?
    package var accessControl: AccessControl
    package var isSynchronizable: Bool
    /// Nil for an item that has no value, which is not the same as an empty value.
    package var value: Data?
    /// How the user may be asked when an item that is there already needs a person to be changed.
    package var authentication: AuthenticationOptions

    package init(
        itemClass: ItemClass, attributes: ItemAttributes = [:], accessGroup: String? = nil,
        accessControl: AccessControl? = nil, isSynchronizable: Bool = false, value: Data? = nil,
        authentication: AuthenticationOptions = .init()
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.accessControl = accessControl ?? AccessControl(protection: itemClass.defaultProtection)
        self.isSynchronizable = isSynchronizable
        self.value = value
        self.authentication = authentication
    }
}

/// Which items an operation is about.
package struct ItemQuery: Sendable {
    package var itemClass: ItemClass
    /// Attributes that must be equal, by ``AttributeValue/matches(_:as:)``.
    package var attributes: ItemAttributes
    /// Custom attributes that the item must have with these values, among others.
    package var customAttributes: CustomAttributes = [:]
    /// Nil for every group the client holds.
    package var accessGroup: String?
    package var synchronizable: SynchronizableScope
    /// The identifier inside a persistent reference.
    package var identifier: UUID?
    /// The most items to return; nil for all.
    package var limit: Int?
    package var filters: [ItemFilter]
    package var includesTombstones: Bool
    /// Whether the values of expired items are read, too.
    package var includesExpired = false
    /// What a search tells besides the items it finds.
    package var reports: SearchReports = []
    package var authentication: AuthenticationOptions

    package init(
        itemClass: ItemClass, attributes: ItemAttributes = [:], accessGroup: String? = nil,
        synchronizable: SynchronizableScope = .localOnly, identifier: UUID? = nil, limit: Int? = nil,
        filters: [ItemFilter] = [], includesTombstones: Bool = false,
        authentication: AuthenticationOptions = .init()
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.synchronizable = synchronizable
        self.identifier = identifier
        self.limit = limit
        self.filters = filters
        self.includesTombstones = includesTombstones
        self.authentication = authentication
    }
}

/// What a search is asked to tell besides the items it finds.
package struct SearchReports: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Items that cannot be opened, which are then left out. Without this the first of them ends the search.
    package static let damage = SearchReports(rawValue: 1)
    /// Items that ``AuthenticationOptions/Interaction/skip`` leaves out.
    package static let withheld = SearchReports(rawValue: 2)
    /// Items that a search for values leaves out because they are expired.
    package static let expired = SearchReports(rawValue: 4)
    /// Items whose class is locked, which are then left out. Without this the first of them ends the search.
    package static let locked = SearchReports(rawValue: 8)
    /// The attributes of items that ``AuthenticationOptions/Interaction/skip`` leaves out, for a client that holds
    /// every group: the vault's owner sees what there is without being asked. Other clients get ``withheld``.
    package static let guarded = SearchReports(rawValue: 16)
}

/// An item that was left out because it needs a person: what may be told of it without one.
package struct WithheldItem: Sendable, Hashable {
    package var itemClass: ItemClass
    package var identifier: UUID
    package var accessControl: AccessControl

    package init(_ item: StoredItem) {
        self.init(itemClass: item.itemClass, identifier: item.identifier, accessControl: item.accessControl)
    }

    package init(itemClass: ItemClass, identifier: UUID, accessControl: AccessControl) {
        self.itemClass = itemClass
        self.identifier = identifier
        self.accessControl = accessControl
    }
}

/// Which side of the synchronizable divide a query looks at.
package enum SynchronizableScope: Sendable {
    case localOnly, synchronizableOnly, any
}

/// A condition beyond attribute equality.
package enum ItemFilter: Sendable, Hashable {
    /// The stored server is this host or a subdomain of it. Internet passwords only.
    case hostOrSubdomain(String)
    /// The certificate names this e-mail address; compared without case.
    case emailAddress(String)
    /// The certificate is valid at this time.
    case validOn(Date)
    /// The certificate's issuer chain leads to one of these normalised names.
    case issuers([Data])
}

/// How the user may be asked when an item needs a person.
package struct AuthenticationOptions: Sendable {
    package enum Interaction: Sendable {
        /// Ask.
        case allow
        /// Refuse with `interactionNotAllowed` instead of asking.
        case fail
        /// Leave items that need a person out of the result.
        case skip
    }

    package var interaction: Interaction
    /// What the prompt says; nil for the vault's own words.
    package var prompt: String?
    /// The authentication context whose grants count for this operation; nil for none.
    package var context: UUID?
    /// The further password for items that ask for one.
    package var applicationPassword: SecretBytes?
    /// What the prompt's parts are called. Stays in the process that prompts.
    package var titles: PromptTitles

    package init(
        interaction: Interaction = .allow, prompt: String? = nil, context: UUID? = nil,
        applicationPassword: SecretBytes? = nil, titles: PromptTitles = .init()
    ) {
        self.titles = titles
        self.interaction = interaction
        self.prompt = prompt
        self.context = context
        self.applicationPassword = applicationPassword
    }
}

/// What a program calls the parts of a prompt; nil or empty for the prompt's own words.
package struct PromptTitles: Sendable, Hashable {
    /// The button that gives the question up.
    package var cancel: String?
    /// The passcode, which is what is left where a finger will not do.
    package var passcode: String?

    package init(cancel: String? = nil, passcode: String? = nil) {
        self.cancel = cancel
        self.passcode = passcode
    }
}

/// What an update changes; everything it does not mention survives.
package struct ItemChanges: Sendable {
    package var attributes: ItemAttributes
    /// All custom attributes that the item has afterwards.
    package var customAttributes: CustomAttributes?
    /// Nil leaves the one before, unless it is over and the value changes.
    package var expiry: Expiry?
    /// Nil leaves the one before.
    package var kept: KeptVersions?
    package var accessGroup: String?
    package var accessControl: AccessControl?
    package var isSynchronizable: Bool?
    package var value: Data?

    package init(
        attributes: ItemAttributes = [:], accessGroup: String? = nil,
        accessControl: AccessControl? = nil, isSynchronizable: Bool? = nil, value: Data? = nil
    ) {
        self.attributes = attributes
        self.accessGroup = accessGroup
        self.accessControl = accessControl
        self.isSynchronizable = isSynchronizable
        self.value = value
    }
}
