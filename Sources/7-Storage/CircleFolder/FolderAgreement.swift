import Access
import FoundationEssentials
import VaultInterface

extension CircleFindings {
    /// Compares what others say with what the folder shows.
    ///
    /// - Parameters:
    ///   - places: How far this vault has read.
    ///   - state: What the vault says, with the heads of others.
    ///   - chain: Returns the chain value at an earlier place of a member; nil if that is not known.
    init(
        _ places: [UInt32: FolderPlaces.Member], _ state: CollectedObjects,
        chain: (UInt32, SegmentFile.Place) -> Data?
    ) {
        self.init()
        let gone = Set(state.gone)
        for head in state.heads.sorted(by: { $0.member < $1.member }) {
            note(head.log, of: head.member)
            for (member, claimed) in FolderStatement(decoding: head.statement).places.sorted(by: { $0.key < $1.key })
            where member <= state.lastMember && !gone.contains(member) {
                guard let present = places[member]?.place, !claimed.isBehind(present) else {
                    let isOwn = member == state.member
                    note(
                        isOwn
                            ? .ownWentBack(by: head.member)
                            : member == head.member ? .behind : .withheld(by: head.member), of: member)
                    continue
                }
                let known =
                    claimed.isBehind(present) || present.isBehind(claimed) ? chain(member, claimed) : present.chain
                if let known, known != claimed.chain { note(.otherHistory(at: head.member), of: member) }
            }
        }
    }
}
