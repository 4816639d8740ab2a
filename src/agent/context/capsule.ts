import { oneLine, shorten } from '../../lib/shorten.ts'
import { answerOf, type InputItem, type ModelService, NO_USAGE, type Usage } from '../../model/port.ts'
import { estimateItemTokens } from '../../model/tokens.ts'

/** The label of a capsule in the input of a model. */
export const SUMMARY_LABEL = 'the conversation until now, summarised'

export type Capsule = { readonly text: string; readonly method: 'model' | 'builtin'; readonly usage: Usage }

const INSTRUCTIONS = `Write the capsule of this conversation: what you must know to go on with it as if you had read \
all of it. You will have nothing else. Write in the language of the conversation, in plain markdown, under exactly \
these headings, leaving out one that would be empty:

## Established facts
What the owner has said about themselves, people, places, dates, numbers, preferences. Keep names, numbers and dates \
to the letter. If a fact was corrected, keep only what holds now.
## Commitments
What you promised, and what is scheduled.
## Open work
What is begun and not finished, questions not yet answered.
## Corrections
What the owner corrected, so that you do not repeat it.
## Where we are
The last topic, in two sentences.

Carry over everything of an earlier capsule that still holds. Invent nothing.`

const CAPSULE_TOKENS = 4000

/** A word takes two tokens at most, in most languages. */
const atMost = (tokens: number) => `Write at most ${Math.floor(tokens / 2)} words.`

/** Something that was promised and is still open. `seq` is the event that holds its words; `foreign`: words of others. */
export type Commitment = { readonly seq: number; readonly title: string; readonly foreign: boolean }

/** Summarises the items with the model, or by rules with the builtin model. Throws ModelError. */
export async function writeCapsule(
  service: ModelService,
  input: readonly InputItem[],
  options: {
    readonly commitments: readonly Commitment[]
    readonly now: string
    readonly timezone: string
    /** Of a small context. */
    readonly maxTokens?: number | undefined
  },
  signal: AbortSignal,
): Promise<Capsule> {
  if (service.text.id.provider === 'builtin')
    return { text: summariseByRules(input), method: 'builtin', usage: NO_USAGE }
  const { maxTokens = CAPSULE_TOKENS } = options
  const open: InputItem[] =
    options.commitments.length === 0
      ? []
      : [
          {
            type: 'inner',
            label: 'open commitments: keep each of them',
            text: options.commitments.map(({ title }) => title).join('\n'),
          },
        ]
  const request = {
    instructions: maxTokens < CAPSULE_TOKENS ? `${INSTRUCTIONS} ${atMost(maxTokens)}` : INSTRUCTIONS,
    input: [...input, ...open, { type: 'message', role: 'owner', text: 'Write the capsule now.' } as const],
    tools: [],
    now: options.now,
    timezone: options.timezone,
    maxOutputTokens: maxTokens,
    use: { purpose: 'compaction', channel: 'inner' } as const,
  }
  const { text, usage } = await answerOf(service.text.respond(request, signal))
  return { text: withCommitments(text.trim(), options.commitments), method: 'model', usage }
}

/** Adds the commitments that the model left out. Failing instead would block compaction for good. */
function withCommitments(text: string, commitments: readonly Commitment[]): string {
  const written = plain(text)
  const missing = commitments
    .map(({ title }) => oneLine(title))
    .filter((each) => !written.includes(plain(each)))
  if (text === '' || missing.length === 0) return text
  return `${text}\n\n## Commitments\n${missing.map((each) => `- ${each}`).join('\n')}`
}

const plain = (text: string): string => oneLine(text).toLowerCase()

/** The builtin model cannot summarise, so it keeps the newest messages of the owner. */
const BUILTIN_CAPSULE_TOKENS = 2000
const BUILTIN_LINE_CHARS = 400

/** The newest messages of the owner that fit, oldest first, and the lines of an earlier capsule. */
export function summariseByRules(input: readonly InputItem[]): string {
  const lines = input.flatMap((item) => {
    if (item.type === 'inner' && item.label !== SUMMARY_LABEL) return []
    if (item.type === 'inner') return item.text.split('\n').filter((line) => line.startsWith('- '))
    if (item.type !== 'message' || item.role !== 'owner') return []
    return [`- ${shorten(oneLine(item.text), BUILTIN_LINE_CHARS)}`]
  })
  const kept: string[] = []
  let tokens = 0
  for (const line of new Set(lines.reverse())) {
    tokens += estimateItemTokens({ type: 'inner', label: '', text: line })
    if (tokens > BUILTIN_CAPSULE_TOKENS) break
    kept.unshift(line)
  }
  return `## What the owner said\n${kept.join('\n')}`
}
