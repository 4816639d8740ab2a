import type { PlanGroups } from '../data/erasures.ts'
import type { TimelineEvent } from '../data/timeline.ts'
import type { TurnMemory } from '../data/turns.ts'
import type { Cut } from '../timeline/event-kinds.ts'
import type { Segment } from '../timeline/tree.ts'
import type { RenderMarkdown } from './markdown.ts'

/** What the rows of a timeline can do beyond folding; the page decides how. */
export type TimelineActions = {
  copy(text: string): void
  /** Loads the whole of a body that was cut. */
  showAll(event: TimelineEvent): void
  eraseEvent(event: TimelineEvent): void
  eraseSpan(segment: Segment): void
  isErasurePending(erasureId: string): boolean
  loadErasurePlan(erasureId: string): Promise<PlanGroups | null>
  undoErasure(erasureId: string): void
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  /** Sends a text message again that failed. */
  sendTextAgain(deliveryId: string): void
  /** Says again what a failed turn was asked. */
  resend(failed: TimelineEvent): void
  /** The owner's word on something proposed. Rejects with what is to be said where it could not be taken. */
  settle(proposalId: string, word: 'confirm' | 'decline'): Promise<void>
  loadMemories(turnId: string): Promise<readonly TurnMemory[]>
  /** Shows why a turn's reply came to be what it is. */
  explainTurn(turnId: string): void
}

/** What a row's template needs to know. */
export type RowContext = TimelineActions & {
  /** The one row that the Tab key reaches; arrows move it. */
  readonly activeKey: string
  /** The row under the pointer, empty while there is none. */
  readonly pointedKey: string
  /** There is a pointer that hovers: what it brings out is not there before. */
  readonly hovers: boolean
  /** The row that a search hit led to. */
  readonly foundKey: string
  readonly now: Date
  /** Whose words the caller's are. */
  readonly callParty: 'owner' | 'guest'
  readonly markdown: RenderMarkdown
  readonly loadingSpans: ReadonlySet<string>
  toggle(key: string): void
  /** Folds an exchange from anywhere within it. */
  fold(segment: Segment): void
  cutOf(event: TimelineEvent): Cut | null
}
