import type { EventType } from '../../ledger/events/catalogue.ts'

/** Types that the recorded ledger lacks, with the reason. Types added to the catalogue later belong here. */
export const NOT_RECORDED: Partial<Record<EventType, string>> = {
  'memory.sources.kept': 'added later',
  'call.pin.accepted': 'added later',
  'call.pin.refused': 'added later',
}

/** Types that only earlier builds wrote. The ledger still accepts them. */
export const APPENDED = ['memory.sources.barred'] as const satisfies readonly EventType[]
