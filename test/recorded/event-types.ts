import type { EventType } from '../../ledger/events/catalogue.ts'

/** Types that the recorded ledger lacks, with the reason. Types added to the catalogue later belong here. */
export const NOT_RECORDED: Partial<Record<EventType, string>> = {
  'delegation.halted': 'added later',
  'delegation.released': 'added later',
  'memory.sources.kept': 'added later',
  'memory.pinned': 'added later',
  'spend.reserved': 'added later',
  'spend.settled': 'added later',
  'allowance.reached': 'added later',
  'allowance.raised': 'added later',
  'price.missing': 'added later',
  'call.pin.accepted': 'added later',
  'call.pin.refused': 'added later',
  'notification.seen': 'added later',
  'push.subscribed': 'added later',
  'push.unsubscribed': 'added later',
  'backup.requested': 'added later',
  'backup.made': 'added later',
  'backup.failed': 'added later',
  'backup.removed': 'added later',
  'backup.copied': 'added later',
  'backup.tested': 'added later',
  'owner.factor.added': 'added later',
  'owner.factor.removed': 'added later',
  'owner.recovery-code.used': 'added later',
  'timer.changed': 'added later',
  'timer.done': 'added later',
  'ledger.salvaged': 'added later',
  'ledger.damage.found': 'added later',
  'ledger.event.lost': 'added later',
}

/** Types that only earlier builds wrote. The ledger still accepts them. */
export const APPENDED = ['memory.sources.barred'] as const satisfies readonly EventType[]
