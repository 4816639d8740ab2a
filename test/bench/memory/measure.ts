import { createJudge, type Fault } from './judge.ts'
import type { Month } from './month.ts'
import { type Asked, isCurrent, type Line, type Played, type Stored } from './play.ts'
import { contains, includesText } from './words.ts'

/** A share: how many of how many. */
export type Share = { readonly of: number; readonly hits: number }

/** What a month measures. Everything adds up over several months. */
export type Figures = {
  readonly known: Share
  readonly precise: Share
  readonly doubled: number
  readonly faults: Readonly<Partial<Record<Fault, number>>>
  readonly provisional: { readonly right: number; readonly wrong: number }
  readonly wrongOverrides: number
  /** Per probe that has an answer and shows anything. */
  readonly lines: { readonly probes: number; readonly shown: number; readonly right: number }
  readonly within250: Share
  readonly within500: Share
  readonly lookedUp: Share
  readonly several: Share
  readonly empty: Share
  readonly secrets: Share
  readonly forgottenBack: Share
  readonly unrelatedLost: number
  readonly tokens: { readonly probes: number; readonly sum: number }
  readonly calibration: readonly { readonly relevance: number; readonly isUseful: boolean }[]
}

/** What went wrong, for `--verbose`. */
export type Findings = { readonly figures: Figures; readonly complaints: readonly string[] }

export function measure({ month, stored, asked, lost }: Played): Findings {
  const complaints: string[] = lost.map((text) => `forgotten along: ${text}`)
  const memories = measureMemories(month, stored, complaints)
  const answerable = asked.filter(({ probe }) => probe.kind !== 'nothing')
  const several = answerable.filter(({ probe }) => probe.kind === 'several')
  const empty = asked.filter(({ probe }) => probe.kind === 'nothing')
  for (const { probe, small } of answerable)
    if (!isAnswered(probe.answers, small))
      complaints.push(`not answered within 250 tokens: ${probe.question} (${probe.answers.join(', ')})`)
  for (const { probe, lookedUp } of answerable)
    if (!isAnswered(probe.answers, lookedUp))
      complaints.push(`not answered by the recall tool: ${probe.question} (${probe.answers.join(', ')})`)
  for (const { probe, lines } of empty)
    if (lines.length > 0) complaints.push(`shown for nothing: ${probe.question}: ${lines[0]?.text}`)
  const showing = answerable.filter(({ lines }) => lines.length > 0)
  const shown = showing.flatMap(({ lines, probe }) => lines.map((line) => isUseful(probe.answers, line)))
  return {
    complaints,
    figures: {
      ...memories,
      lines: { probes: showing.length, shown: shown.length, right: shown.filter(Boolean).length },
      within250: share(answerable, ({ probe, small }) => isAnswered(probe.answers, small)),
      within500: share(answerable, ({ probe, large }) => isAnswered(probe.answers, large)),
      lookedUp: share(answerable, ({ probe, lookedUp }) => isAnswered(probe.answers, lookedUp)),
      several: share(several, ({ probe, small }) => isAnswered(probe.answers, small)),
      empty: share(empty, ({ lines }) => lines.length === 0),
      secrets: secretsOf(month, stored, asked, complaints),
      forgottenBack: forgottenOf(month, stored, asked, complaints),
      unrelatedLost: lost.length,
      tokens: { probes: asked.length, sum: asked.reduce((sum, { tokens }) => sum + tokens, 0) },
      calibration: asked.flatMap(({ lines, probe }) =>
        lines.flatMap((line) =>
          line.relevance === null
            ? []
            : [
                {
                  relevance: line.relevance,
                  isUseful: probe.kind !== 'nothing' && isUseful(probe.answers, line),
                },
              ],
        ),
      ),
    },
  }
}

function measureMemories(month: Month, stored: readonly Stored[], complaints: string[]) {
  const { judge, fates } = createJudge(month)
  const faults: Partial<Record<Fault, number>> = {}
  const timesKnown = new Map<string, number>()
  let right = 0
  let wrong = 0
  for (const memory of stored.filter(isCurrent)) {
    const verdict = judge(memory)
    if (verdict.kind === 'false') {
      wrong += 1
      faults[verdict.fault] = (faults[verdict.fault] ?? 0) + 1
      complaints.push(`false, ${verdict.fault}: ${memory.text} [${memory.subject}]`)
    }
    if (verdict.kind !== 'right') continue
    right += 1
    for (const id of verdict.factIds) timesKnown.set(id, (timesKnown.get(id) ?? 0) + 1)
  }
  const wanted = [...month.facts.values()].filter(
    ({ id, isOptional }) => fates.get(id) === 'current' && !isOptional,
  )
  for (const { id, subject, slot, value } of wanted)
    if (!timesKnown.has(id)) complaints.push(`missing: ${subject} / ${slot}: ${value}`)
  const provisional = stored.filter(({ status }) => status === 'provisional').map(judge)
  return {
    known: share(wanted, ({ id }) => timesKnown.has(id)),
    precise: { of: right + wrong, hits: right },
    doubled: [...timesKnown.values()].reduce((sum, times) => sum + times - 1, 0),
    faults,
    provisional: {
      right: provisional.filter(({ kind }) => kind === 'right').length,
      wrong: provisional.filter(({ kind }) => kind === 'false').length,
    },
    wrongOverrides: wrongOverrides(month, stored, judge, complaints),
  }
}

/** Memories of facts that still hold, superseded by one that says something else. */
function wrongOverrides(
  { facts }: Month,
  stored: readonly Stored[],
  judge: ReturnType<typeof createJudge>['judge'],
  complaints: string[],
): number {
  const byId = new Map(stored.map((memory) => [memory.memoryId, memory]))
  const wrong = stored.filter((memory) => {
    if (memory.status !== 'superseded' || memory.supersededBy === null) return false
    const verdict = judge(memory)
    const successor = byId.get(memory.supersededBy)
    if (verdict.kind !== 'right' || !successor) return false
    const by = judge(successor)
    const continues = (id: string) =>
      verdict.factIds.includes(id) || verdict.factIds.includes(facts.get(id)?.refines ?? '')
    return by.kind === 'false' || (by.kind === 'right' && !by.factIds.some(continues))
  })
  for (const { text, supersededBy } of wrong)
    complaints.push(`overridden: ${text} → ${byId.get(supersededBy ?? '')?.text}`)
  return wrong.length
}

/** Secrets that are neither stored nor shown. */
function secretsOf(
  { messages }: Month,
  stored: readonly Stored[],
  asked: readonly Asked[],
  complaints: string[],
): Share {
  const secrets = messages.flatMap((message) => message.secrets)
  const shown = asked.flatMap(({ lines, large }) => [...lines.map(({ text }) => text), ...large])
  return share(secrets, ({ words }) => {
    const isKept = stored.some((memory) => isCurrent(memory) && contains(wordsOf(memory), words))
    const isShown = shown.some((line) => contains(line, words))
    if (isKept || isShown) complaints.push(`secret ${isKept ? 'stored' : 'shown'}: ${words}`)
    return !isKept && !isShown
  })
}

/** Forgotten words that are stored again or shown, apart from the request to forget them. */
function forgottenOf(
  { messages }: Month,
  stored: readonly Stored[],
  asked: readonly Asked[],
  complaints: string[],
): Share {
  const requests = messages.flatMap(({ text, forgets }) => forgets.map(({ words }) => ({ text, words })))
  const shown = asked.flatMap(({ lines, large }) => [...lines.map(({ text }) => text), ...large])
  return share(requests, ({ text, words }) => {
    const isKept = stored.some((memory) => isCurrent(memory) && contains(wordsOf(memory), words))
    const isShown = shown.some((line) => contains(line, words) && !includesText(line, text))
    if (isKept || isShown) complaints.push(`forgotten but ${isKept ? 'stored' : 'shown'}: ${words}`)
    return isKept || isShown
  })
}

const wordsOf = ({ text, value }: Stored) => `${text ?? ''} ${value ?? ''}`

/** Without its date, whose numbers are not an answer. */
const bare = (line: string) => line.replace(/^\d{4}-\d{2}-\d{2} /, '')

function isUseful(answers: readonly string[], { text }: Line): boolean {
  return answers.some((answer) => contains(bare(text), answer))
}

function isAnswered(answers: readonly string[], lines: readonly string[]): boolean {
  return answers.every((answer) => lines.some((line) => contains(bare(line), answer)))
}

function share<T>(all: readonly T[], isHit: (each: T) => boolean): Share {
  return { of: all.length, hits: all.filter(isHit).length }
}
