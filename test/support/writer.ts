import { newSalt, toDraft } from '../../ledger/codec.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { createIds } from '../../ledger/ids.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import { openWriter, type Writer, type WriterOptions } from '../../src/storage/writer.ts'

export const newId = createIds(Date.now)

export type TestWriter = Writer & {
  append(...events: readonly NewEvent[]): CommitOutcome
  /** Erases and completes the erasure. */
  forget(...seqs: readonly number[]): number[]
  settle(): void
  readonly warnings: { message: string; fields: Record<string, unknown> }[]
}

/** The writer of the storage thread, but with facts instead of drafts and its own clock. */
export function openTestWriter(directory: string, options: Partial<WriterOptions> = {}): TestWriter {
  const warnings: TestWriter['warnings'] = []
  const writer = openWriter({
    directory,
    newId,
    warn: (message, fields) => warnings.push({ message, fields }),
    ...options,
  })
  let nowMs = Date.UTC(2030, 0, 1)
  const at = () => {
    nowMs += 1000
    return new Date(nowMs).toISOString()
  }
  const settle = () => {
    while (writer.step(1000));
  }
  return {
    ...writer,
    warnings,
    settle,
    append(...events) {
      const context = { newId, newSalt, at: at() }
      const [outcome] = writer.commit([events.map((event) => toDraft(event, context))])
      if (!outcome) throw new Error('the commit returned no outcome')
      return outcome
    },
    forget(...seqs) {
      const erased = erase(writer, seqs, at())
      settle()
      return erased
    },
  }
}

/** Appends the erasure of these events. Returns the seqs that had a body. */
export function erase(writer: Writer, seqs: readonly number[], at: string): number[] {
  const { batch, withBody } = writer.erasure({ seqs, reason: 'owner', at })
  writer.commit([batch])
  return withBody
}

export const said = (text: string, more: Partial<NewEvent> = {}): NewEvent =>
  ({
    type: 'chat.message.received',
    actor: 'owner',
    channel: 'chat',
    facts: {},
    body: { text },
    ...more,
  }) as NewEvent
