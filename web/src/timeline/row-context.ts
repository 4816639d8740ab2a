import type { PlanGroups } from '../../../src/http/contract/erasures.ts'
import type { TurnMemory } from '../../../src/http/contract/session.ts'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import type { RenderMarkdown } from '../design/markdown.ts'
import type { Cut } from './event-kinds.ts'
import type { Segment } from './tree.ts'

/** Actions of timeline rows that the page implements. */
export type TimelineActions = {
  copy(text: string): void
  /** Loads the full body of an event that was cut. */
  showAll(event: TimelineEvent): void
  eraseEvent(event: TimelineEvent): void
  eraseSpan(segment: Segment): void
  isErasurePending(erasureId: string): boolean
  loadErasurePlan(erasureId: string): Promise<PlanGroups | null>
  undoErasure(erasureId: string): void
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  /** Resends a failed text message. */
  sendTextAgain(deliveryId: string): void
  /** Resends the message of a failed turn. */
  resend(failed: TimelineEvent): void
  /** Confirms or declines a proposal. Rejects if the service does not accept it. */
  settle(proposalId: string, word: 'confirm' | 'decline'): Promise<void>
  loadMemories(turnId: string): Promise<readonly TurnMemory[]>
  /** Shows what went into the reply of a turn. */
  explainTurn(turnId: string): void
}

/** Input of the row templates. */
export type RowContext = TimelineActions & {
  /** The row that the Tab key reaches; arrow keys change it. */
  readonly activeKey: string
  /** The row under the pointer, or an empty string. */
  readonly pointedKey: string
  /** Whether the device supports hover. If so, tools are rendered only on hover. */
  readonly hovers: boolean
  /** The row that a search hit led to. */
  readonly foundKey: string
  readonly now: Date
  /** Who the caller is. */
  readonly callParty: 'owner' | 'guest'
  readonly markdown: RenderMarkdown
  readonly loadingSpans: ReadonlySet<string>
  toggle(key: string): void
  /** Folds an exchange from a row inside it. */
  fold(segment: Segment): void
  cutOf(event: TimelineEvent): Cut | null
}
