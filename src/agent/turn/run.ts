import type { AnyEvent, LedgerReader } from '../../../ledger/reader.ts'
import { type InputItem, NO_USAGE, type Usage } from '../../model/port.ts'
import type { Tool } from '../../model/tool.ts'
import type { Composed } from '../context/composer.ts'
import type { Provenance } from './provenance.ts'
import { type Tally, tallyOf } from './tool-runner.ts'
import type { TurnToRun } from './turn-facts.ts'
import type { TurnProgress } from './turn-progress.ts'

/** What a running turn has read, said and used so far. */
export type Run = {
  /** Calls and results, which follow the composed input. */
  readonly tail: InputItem[]
  readonly signalIds: Set<string>
  /** Sources with foreign words that the model has read, in words for the owner. */
  readonly read: Set<string>
  /** The facts with foreign words that the model has seen. */
  readonly foreignSeqs: Set<number>
  readonly tally: Tally
  usage: Usage
  said: string
  rounds: number
  /** The model has seen these facts. */
  see(seqs: Iterable<number>): void
  /** The model is given this context. */
  take(composed: Composed): void
  /** All facts that the model has seen, including its own calls. */
  seenSeqs(): number[]
  /** The sources of texts: the message that the turn answers, and what they repeat of the facts seen. */
  derivation(): (text: string) => number[]
}

/** Begins with what earlier attempts at the turn have done. */
export function createRun(options: {
  readonly turn: TurnToRun
  readonly progress: TurnProgress
  readonly tools: ReadonlyMap<string, Tool>
  readonly ledger: LedgerReader
  readonly provenance: Provenance
}): Run {
  const { turn, progress, tools, ledger, provenance } = options
  const seen = new Set([turn.causeSeq, ...progress.seenSeqs])
  /** The facts as the model saw them. If one is erased meanwhile, whatever repeats it is erased too. */
  const given = new Map<number, AnyEvent>()
  let past: Composed['past'] = []

  function readSeen(): readonly AnyEvent[] {
    const fresh = [...seen].filter((seq) => !given.has(seq)).sort((a, b) => a - b)
    for (const event of ledger.readSeqs(fresh)) given.set(event.seq, event)
    return [...given.values()]
  }
  function see(seqs: Iterable<number>): void {
    for (const seq of seqs) seen.add(seq)
  }

  const run: Run = {
    tail: [...progress.items],
    signalIds: new Set(),
    read: new Set(progress.read.map(({ tool }) => tools.get(tool)?.reads ?? tool)),
    foreignSeqs: new Set([
      ...progress.read.map(({ seq }) => seq),
      ...progress.orphans.flatMap(({ foreign, seq }) => (foreign ? [seq] : [])),
    ]),
    tally: tallyOf(progress.called, tools),
    usage: NO_USAGE,
    said: '',
    rounds: progress.rounds,
    see,
    take(composed) {
      past = composed.past
      for (const seq of composed.foreignSeqs) run.foreignSeqs.add(seq)
      see(composed.seenSeqs)
      readSeen()
    },
    seenSeqs: () => [...seen],
    derivation() {
      const events = readSeen()
      return (text) =>
        [...new Set([turn.causeSeq, ...provenance.sourcesOf(text, events, past)])].sort((a, b) => a - b)
    },
  }
  return run
}
