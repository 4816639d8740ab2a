import type { LedgerReader } from '../../ledger/reader.ts'

/** What the model answers when nothing needs to be said. */
export const SILENCE = '[silent]'

export type SignalText = {
  readonly seq: number
  readonly kind: string
  readonly at: string
  readonly text: string
}

/** The words of signals; those that were erased meanwhile are left out. */
export function readSignals(ledger: LedgerReader, seqs: readonly number[]): SignalText[] {
  return ledger
    .readSeqs(seqs)
    .flatMap((event) =>
      event.type === 'signal.raised' && event.body
        ? [{ seq: event.seq, kind: event.facts.kind, at: event.at, text: event.body.text }]
        : [],
    )
}

/** A batch of signals as the model is given it: data, a line each, with its kind. No text can pass for another line. */
export function batchText(signals: readonly SignalText[]): string {
  return signals.map(({ kind, at, text }) => `- ${at} ${kind}: ${oneLine(text)}`).join('\n')
}

/** A text in one line, so that none of it can pass for a line of its own. */
export function oneLine(text: string): string {
  const lines = text.split(/[\r\n\u0085\u2028\u2029]/).map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}
