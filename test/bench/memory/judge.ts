import { INVENTED } from './model.ts'
import { type Fact, type Fate, fatesOf, type Month, peopleOf, type TrapKind } from './month.ts'
import type { Stored } from './play.ts'
import { contains, includesText } from './words.ts'

/** Why a memory is false. */
export type Fault =
  | TrapKind
  | 'outdated'
  | 'wrong subject'
  | 'invented'
  | 'secret'
  | 'forgotten'
  | 'retracted'
  | 'words of the assistant'
  | 'no fact'

/** `neutral`: neither a fact of the month nor wrong, such as a plan whose time is over. */
export type Verdict =
  | { readonly kind: 'right'; readonly factIds: readonly string[] }
  | { readonly kind: 'neutral' }
  | { readonly kind: 'false'; readonly fault: Fault }

const FAULTS: Readonly<Partial<Record<Fate, Fault>>> = {
  corrected: 'outdated',
  retracted: 'retracted',
  forgotten: 'forgotten',
}

/** Judges memories by the labels of the month and the messages that they come from. */
export function createJudge(month: Month) {
  const fates = fatesOf(month)
  const people = peopleOf(month)
  const forgets = month.messages.flatMap((message) => message.forgets)
  const secrets = month.messages.flatMap((message) => message.secrets)
  const facts = [...month.facts.values()]
  const replies = month.messages.map(({ reply }) => reply)

  const labelled = new Map(
    month.messages.flatMap(({ statements }) => statements.map(({ factId, text }) => [factId, text] as const)),
  )

  /** Whether a memory is about the subject of the fact. It must name it if the label does. */
  function isAbout(fact: Fact, words: string, subject: string): boolean {
    if (fact.subject !== 'owner')
      return (
        contains(`${words} ${subject}`, fact.subject) || !contains(labelled.get(fact.id) ?? '', fact.subject)
      )
    return !people.some((name) => contains(subject, name) && !contains(fact.value, name))
  }

  function judge({ text, value, subject, sources }: Stored): Verdict {
    const words = `${text ?? ''} ${value ?? ''}`
    const wrong = (fault: Fault): Verdict => ({ kind: 'false', fault })
    if (INVENTED.some((detail) => contains(words, detail))) return wrong('invented')
    if (secrets.some((secret) => contains(words, secret.words))) return wrong('secret')
    const stated = facts.filter((fact) => contains(words, fact.value))
    const about = stated.filter((fact) => isAbout(fact, words, subject ?? ''))
    const isHeld = ({ id }: Fact) => fates.get(id) === 'current' || fates.get(id) === 'refined'
    const held = about.filter(isHeld).map(({ id }) => id)
    if (held.length > 0) return { kind: 'right', factIds: held }
    if (forgets.some((forget) => contains(words, forget.words))) return wrong('forgotten')
    for (const trap of sources.flatMap(({ traps }) => traps)) {
      if (!contains(words, trap.value)) continue
      return trap.guards.some((guard) => contains(words, guard)) ? { kind: 'neutral' } : wrong(trap.kind)
    }
    if (about.some(({ id }) => fates.get(id) === 'past')) return { kind: 'neutral' }
    for (const { id } of about) {
      const fault = FAULTS[fates.get(id) ?? 'current']
      if (fault) return wrong(fault)
    }
    if (stated.length > 0) return wrong('wrong subject')
    const isNote = sources.some((message) => message.retracts.length > 0 && message.text === text)
    if (isNote) return { kind: 'neutral' }
    return wrong(
      replies.some((reply) => includesText(reply, text ?? '')) ? 'words of the assistant' : 'no fact',
    )
  }

  return { judge, fates }
}
