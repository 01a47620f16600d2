import Bytes
import CLibrary
import SystemLibraries

/// A front process for the conversations of one program. For one thread.
final class FrontOfProgram {
    /// Where conversations come from.
    private let control: Int32
    private var conversations: [FrontConversation] = []
    /// Whether no more will come.
    private var isOver = false

    init(control: Int32) { self.control = control }

    /// Of poll(2): the other end sends no more. The overlay does not have it.
    private static let noMore: Int16 = 0x2000

    /// Serves until the other process closes its end, and all conversations are over. If the other process only stops
    /// sending, it wants the front to end at once: that needs no room in a queue that may be full.
    func run() {
        while !isOver || !conversations.isEmpty {
            let events = Int16(truncatingIfNeeded: POLLIN) | Self.noMore
            var polled = [pollfd(fd: isOver ? -1 : control, events: events, revents: 0)]
            polled.reserveCapacity(1 + 2 * conversations.count)
            var alarm: ContinuousClock.Instant?
            for conversation in conversations {
                let interests = conversation.interests
                polled.append(interests.program)
                polled.append(interests.link)
                if let next = conversation.alarm { alarm = min(next, alarm ?? next) }
            }
            let wait = alarm.map { BusConnection.milliseconds(until: $0) } ?? -1
            guard poll(&polled, nfds_t(clamping: polled.count), wait) >= 0 || errno == EINTR else { return }
            let isClosed = polled[0].revents & Int16(truncatingIfNeeded: POLLHUP) != 0
            if polled[0].revents & Self.noMore != 0, !isClosed { return }
            let isLate = alarm.map { $0 <= .now } ?? false
            var kept: [FrontConversation] = []
            kept.reserveCapacity(conversations.count)
            for (index, conversation) in conversations.enumerated() {
                let (program, link) = (polled[1 + 2 * index].revents, polled[2 + 2 * index].revents)
                if program == 0, link == 0, !isLate {
                    kept.append(conversation)
                } else if conversation.step(program: program, link: link) {
                    kept.append(conversation)
                }
            }
            conversations = kept
            if polled[0].revents != 0 { takeOver() }
        }
    }

    private func takeOver() {
        guard let message = PassedDescriptors.receive(16, from: control) else {
            isOver = true
            return
        }
        guard message.descriptors.count == 2 else {
            for descriptor in message.descriptors { close(descriptor) }
            return
        }
        let (program, link) = (message.descriptors[0], message.descriptors[1])
        guard let conversation = FrontConversation(program: program, link: link), conversation.step() else { return }
        conversations.append(conversation)
    }
}
