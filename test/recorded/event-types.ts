import type { EventType } from '../../ledger/events/catalogue.ts'

/** Types that the recorded ledger lacks, and why. A type that is added to the catalogue later belongs here. */
export const NOT_RECORDED: Partial<Record<EventType, string>> = {}

/** Types that no part of the service writes any more. The ledger takes them as an earlier build wrote them. */
export const APPENDED = ['memory.sources.barred'] as const satisfies readonly EventType[]
