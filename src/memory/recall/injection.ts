import { fold, tokensOf, wordsOf } from '../../../projections/recall-text.ts'
import { wholeCharacters } from '../../../projections/whole-characters.ts'
import { dayIn } from '../../lib/time.ts'
import { estimateTokens } from '../../model/tokens.ts'
import { sentencesOf } from '../../text/text.ts'
import type { MemoryConfig } from '../config.ts'
import type { Hit } from './ranker.ts'
import type { Recollection } from './recollections.ts'

export type SuppressionReason = 'irrelevant' | 'duplicate' | 'budget'

export type InjectionOptions = Pick<
  MemoryConfig,
  'maxInjectedTokens' | 'maxInjectedMemories' | 'relevanceThreshold'
> & {
  /** Long texts are cut to the excerpt that best matches it. */
  readonly cue: string
  /** IANA time zone of the owner, for the dates. */
  readonly timezone: string
}

export type Injection = {
  /** One dated line per recollection, oldest first; empty if nothing is worth showing. */
  readonly text: string
  /** Never more than `maxInjectedTokens`. */
  readonly tokens: number
  readonly included: readonly (Recollection & { readonly tokens: number })[]
  /** Relevant ones that were left out. */
  readonly suppressed: readonly { readonly hit: Hit; readonly reason: SuppressionReason }[]
}

/** Beside a line that reaches the threshold, others need this share of it. */
export const BESIDE = 0.7
/** Longer texts are cut to an excerpt. */
const MAX_LINE_TOKENS = 160

/** Chooses from recollections (best first) what is worth its tokens and fits the budget, and formats it. */
export function composeInjection(
  recollections: readonly Recollection[],
  options: InjectionOptions,
): Injection {
  const { maxInjectedTokens, maxInjectedMemories, relevanceThreshold } = options
  const best = Math.max(0, ...recollections.map(({ relevance }) => relevance))
  const least = best >= relevanceThreshold ? BESIDE * relevanceThreshold : relevanceThreshold
  const included: { recollection: Recollection; line: string; cost: number }[] = []
  const suppressed: { hit: Hit; reason: SuppressionReason }[] = []
  const repeats = createRepeats()
  const cueTokens = new Set(tokensOf(options.cue))
  let tokens = 0
  for (const recollection of recollections) {
    if (recollection.relevance < least) continue
    if (repeats.has(recollection)) {
      suppressed.push({ hit: recollection, reason: 'duplicate' })
      continue
    }
    const line = lineOf(recollection, cueTokens, options.timezone)
    const cost = estimateTokens(`${line}\n`)
    // A shorter line further down may still fit.
    if (tokens + cost > maxInjectedTokens || included.length >= maxInjectedMemories) {
      suppressed.push({ hit: recollection, reason: 'budget' })
      continue
    }
    repeats.add(recollection)
    included.push({ recollection, line, cost })
    tokens += cost
  }
  const byAge = [...included].sort((a, b) => a.recollection.seq - b.recollection.seq)
  return {
    text: byAge.map(({ line }) => line).join('\n'),
    tokens,
    included: included.map(({ recollection, cost }) => ({ ...recollection, tokens: cost })),
    suppressed,
  }
}

/**
 * Detects repetitions: the same words, the same value of the same slot, or a memory and the turn it was
 * learned from. Two memories of one turn say different things.
 */
function createRepeats() {
  const said = new Set<string>()
  const shown = new Set<number>()
  const sources = new Set<number>()
  return {
    has: (recollection: Recollection): boolean =>
      sources.has(recollection.seq) ||
      recollection.memory?.sourceSeqs.some((source) => shown.has(source)) ||
      statementsOf(recollection).some((statement) => said.has(statement)),
    add(recollection: Recollection): void {
      shown.add(recollection.seq)
      for (const source of recollection.memory?.sourceSeqs ?? []) sources.add(source)
      for (const statement of statementsOf(recollection)) said.add(statement)
    },
  }
}

function statementsOf({ text, memory }: Recollection): string[] {
  const words = `words ${wordsOf(text).join(' ')}`
  if (memory === null || memory.slot === '') return [words]
  return [words, `slot ${[memory.subject, memory.slot, memory.value].map(fold).join('\n')}`]
}

function lineOf(
  { atMs, kind, speaker, status, corrections, text }: Recollection,
  cueTokens: ReadonlySet<string>,
  timezone: string,
): string {
  const excerpt = excerptOf(text.replace(/\s+/g, ' ').trim(), cueTokens)
  if (kind === 'memory') return memoryLine({ atMs, status, text: excerpt }, timezone)
  const who =
    corrections.length > 0
      ? `${speaker} (since corrected: ${corrections.map((correction) => correction.text).join('; ')})`
      : speaker
  return `${dayIn(timezone, atMs)} ${who}: ${excerpt}`
}

/** A memory as the model reads it. */
export function memoryLine(
  { atMs, status, text }: { readonly atMs: number; readonly status: string; readonly text: string },
  timezone: string,
): string {
  return `${dayIn(timezone, atMs)} memory (${status}): ${text}`
}

/** The text, or if it is too long, what follows from the sentence that best matches the cue. */
function excerptOf(text: string, cueTokens: ReadonlySet<string>): string {
  if (estimateTokens(text) <= MAX_LINE_TOKENS) return text
  const sentences = sentencesOf(text)
  const overlap = sentences.map(
    (sentence) => new Set(tokensOf(sentence.text).filter((token) => cueTokens.has(token))).size,
  )
  const start = sentences[overlap.indexOf(Math.max(...overlap))]?.start ?? 0
  const rest = text.slice(start)
  const chars = Math.floor((rest.length * MAX_LINE_TOKENS) / estimateTokens(rest))
  const excerpt = chars < rest.length ? `${wholeCharacters(rest.slice(0, chars)).trimEnd()} …` : rest
  return start === 0 ? excerpt : `… ${excerpt}`
}
