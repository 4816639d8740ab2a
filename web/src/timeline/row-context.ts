import type { RenderMarkdown } from '../design/markdown.ts'
import type { TimelineActions } from './timeline-actions.ts'
import type { Segment } from './tree.ts'

/** Input of the templates of a row. */
export type RowContext = TimelineActions & {
  /** 0 in the row that the Tab key reaches; arrow keys change it. */
  readonly tabindex: 0 | -1
  /** Who the caller is. */
  readonly callParty: 'owner' | 'guest'
  readonly markdown: RenderMarkdown
  /** The texts of the long answers that are unfolded, by their notes. */
  readonly answers: ReadonlyMap<string, string>
  /** Unfolds or folds a long answer that became a note. */
  toggleAnswer(noteId: string): Promise<unknown>
  toggle(key: string): void
  /** Folds an exchange from a row inside it. */
  fold(segment: Segment): void
}
