import type { LedgerReader } from '../../../ledger/reader.ts'
import { oneLine } from '../../lib/shorten.ts'
import { toLocalIso } from '../../lib/time.ts'

/** The answer of the model when it has nothing to say. */
export const SILENCE = '[silent]'

export type SignalText = {
  readonly seq: number
  readonly kind: string
  readonly at: string
  readonly text: string
}

/** The texts of signals, without erased ones. */
export function readSignals(ledger: LedgerReader, seqs: readonly number[]): SignalText[] {
  return ledger
    .readSeqs(seqs)
    .flatMap((event) =>
      event.type === 'signal.raised' && event.body
        ? [{ seq: event.seq, kind: event.facts.kind, at: event.at, text: event.body.text }]
        : [],
    )
}

/** A batch of signals as data for the model, one line each. */
export function batchText(signals: readonly SignalText[], timezone: string): string {
  const lines = signals.map(
    ({ kind, at, text }) => `- ${toLocalIso(new Date(at), timezone)} ${kind}: ${oneLine(text)}`,
  )
  return lines.join('\n')
}
