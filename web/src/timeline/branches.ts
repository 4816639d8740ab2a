import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { plainWords } from '../design/plain-text.ts'
import { wordsOf } from './event-kinds.ts'
import type { Entry, Segment } from './tree.ts'

/** A message with its turn, whose place another message took. Shown folded. */
export type Branch = {
  readonly kind: 'branch'
  readonly key: string
  readonly turnId: string
  /** True if the owner asked for another answer, without changing the message. */
  readonly sameWords: boolean
  /** The first of its events. */
  readonly event: TimelineEvent
  readonly entries: readonly Entry[]
}

type Replaced = { readonly turnId: string; readonly seq: number; readonly sameWords: boolean }

/** The message whose place this one takes, and its turn; null if it takes none. */
export function replacedBy({ type, payload }: TimelineEvent): Replaced | null {
  const { replaces } = payload
  return type === 'chat.message.received' && isReplaced(replaces) ? replaces : null
}

function isReplaced(value: unknown): value is Replaced {
  return typeof value === 'object' && value !== null && 'turnId' in value && 'sameWords' in value
}

/**
 * The entries of a segment, with each replaced turn as one entry. What still waits for the owner's confirmation stays
 * where it is.
 */
export function foldBranches({ key, entries }: Segment, replaced: ReadonlyMap<string, boolean>): Entry[] {
  const folded: Entry[] = []
  const branches = new Map<string, Entry[]>()
  for (const entry of replaced.size === 0 ? [] : entries) {
    const turnId = turnOf(entry)
    const sameWords = turnId === null ? undefined : replaced.get(turnId)
    const [event] = entry.kind === 'activity' ? entry.events : [entry.event]
    if (turnId === null || sameWords === undefined || !event || entry.kind === 'proposal') {
      folded.push(entry)
      continue
    }
    const known = branches.get(turnId)
    if (known) known.push(asOver(entry))
    else {
      const within = [asOver(entry)]
      branches.set(turnId, within)
      const place = { key: `branch:${turnId}:${key}`, turnId, sameWords, event }
      folded.push({ kind: 'branch', ...place, entries: within })
    }
  }
  return replaced.size === 0 ? entries : folded
}

export const turnOf = (entry: Entry) => (entry.kind === 'activity' ? entry.turnId : entry.event.turnId)

/** Nothing waits in a turn that is over, and there is nothing to try again. */
function asOver(entry: Entry): Entry {
  if (entry.kind === 'message') return { ...entry, waiting: false }
  return entry.kind === 'failure' ? { kind: 'notice', event: entry.event } : entry
}

/** What a turn with these entries did beside its answer. It is not undone. */
export function effectsOf(entries: readonly Entry[]): readonly TimelineEvent[] {
  return entries.flatMap((entry) => {
    if (entry.kind === 'message') return entry.event.type.startsWith('sms.') ? [entry.event] : []
    return entry.kind === 'notice' && entry.event.type !== 'turn.failed' ? [entry.event] : []
  })
}

/** The message as it was, or the answer that the owner did not keep. */
export function excerptOfBranch({ sameWords, entries }: Branch): string {
  const wanted = sameWords ? 'delegate' : 'owner'
  const said = entries.find((entry) => entry.kind === 'message' && entry.role === wanted)
  if (said?.kind !== 'message') return ''
  const words = wordsOf(said.event)
  return (sameWords ? plainWords(words) : words.replaceAll(/\s+/g, ' ').trim()).slice(0, 160)
}
