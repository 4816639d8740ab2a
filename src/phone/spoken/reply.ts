import pLimit from 'p-limit'
import type { TurnFailureKind } from '../../model/failure-text.ts'
import { AllowanceSpent, ModelError, NO_USAGE, type TextEvent, type Usage } from '../../model/port.ts'
import type { Conversation, Part } from './conversation.ts'
import { spokenText } from './conversation.ts'
import type { Mouth } from './ports.ts'
import { createSentences } from './sentences.ts'

type Emit = (type: string, fields: Readonly<Record<string, unknown>>) => void
type Answer = Extract<TextEvent, { type: 'completed' }>
type Status = 'completed' | 'cancelled' | 'incomplete' | 'failed'

/** Interval of signs of life while a reply is generated, so that a slow model does not count as a lost session. */
const SIGN_MS = 3_000
/** How long the caller waits for the first sentence before they hear that it takes longer. */
const PATIENCE_MS = 20_000

export type SpokenReply = ReturnType<typeof startReply>

/**
 * Speaks an answer sentence by sentence while the model still writes, and reports it as the realtime service does.
 * Requests speech at most one sentence ahead.
 */
export function startReply(options: {
  readonly answer: (signal: AbortSignal) => AsyncIterable<TextEvent>
  readonly mouth: Mouth
  readonly lengthMs: (piece: string) => number
  readonly conversation: Conversation
  readonly newId: (prefix: string) => string
  readonly emit: Emit
  readonly failed: (error: unknown) => void
  /** Said if the answer takes long. */
  readonly patience: string
  /** Called once, when the reply is done. */
  readonly ended: () => void
  /** Adds the calls of the model to the conversation, and returns them as items of the protocol. */
  readonly called: (answer: Answer, responseId: string) => readonly object[]
}) {
  const { conversation, newId, emit, lengthMs } = options
  const id = newId('resp')
  const itemId = newId('item')
  const abort = new AbortController()
  const ofItem = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 }
  const parts: Part[] = []
  let isOver = false
  let patience: NodeJS.Timeout | undefined

  const message = (status: string, content: readonly object[]) => ({
    ...{ id: itemId, object: 'realtime.item', type: 'message', role: 'assistant', status, content },
  })
  const signs = setInterval(() => {
    const item = { id: `${itemId}_thought`, type: 'reasoning', status: 'in_progress' }
    emit('response.output_item.added', { response_id: id, output_index: 0, item })
  }, SIGN_MS).unref()

  function begin(sentence: string): Part {
    const part = { text: sentence, ms: 0, isWhole: false }
    parts.push(part)
    if (parts.length === 1) {
      const item = message('in_progress', [])
      const { previous } = conversation.addSpoken(itemId, parts)
      emit('response.output_item.added', { response_id: id, output_index: 0, item })
      emit('conversation.item.added', { item, previous_item_id: previous })
    }
    emit('response.output_audio_transcript.delta', { ...ofItem, delta: sentence })
    return part
  }

  /** Requests the speech of a sentence now, and passes it on after the previous sentence. */
  async function speak(sentence: string, before: Promise<void>): Promise<void> {
    if (isOver) return
    const pieces = options.mouth.speak(sentence, abort.signal)[Symbol.asyncIterator]()
    const first = pieces.next()
    first.catch(() => undefined)
    try {
      await before
      let part: Part | null = null
      for (let next = await first; !next.done && !isOver; next = await pieces.next()) {
        part ??= begin(sentence)
        part.ms += lengthMs(next.value)
        emit('response.output_audio.delta', { ...ofItem, delta: next.value })
      }
      if (isOver) return
      part ??= begin(sentence)
      part.isWhole = true
    } finally {
      await pieces.return?.()
    }
  }

  async function run(): Promise<void> {
    const sentences = createSentences()
    const speaking = pLimit(2)
    let before = Promise.resolve()
    let answer: Answer | null = null
    const say = (sentence: string) => {
      clearTimeout(patience)
      const previous = before
      before = speaking(() => speak(sentence, previous))
      before.catch(fail)
    }
    patience = setTimeout(() => say(options.patience), PATIENCE_MS).unref()
    for await (const event of options.answer(abort.signal)) {
      if (event.type === 'completed') answer = event
      else for (const sentence of sentences.add(event.text)) say(sentence)
    }
    for (const sentence of sentences.end()) say(sentence)
    await before
    if (!isOver) finish(answer?.truncated ? 'incomplete' : 'completed', {}, answer)
  }

  function fail(error: unknown): void {
    if (isOver) return
    options.failed(error)
    finish('failed', { error: { type: 'server_error', code: codeOf(error) } }, null)
  }

  function finish(status: Status, details: object, answer: Answer | null): void {
    isOver = true
    clearInterval(signs)
    clearTimeout(patience)
    abort.abort()
    const output: object[] = []
    if (parts.length > 0) {
      const transcript = spokenText(parts)
      const item = message(status === 'completed' ? 'completed' : 'incomplete', [
        { type: 'output_audio', transcript },
      ])
      emit('response.output_audio_transcript.done', { ...ofItem, transcript })
      emit('response.output_audio.done', ofItem)
      emit('response.output_item.done', { response_id: id, output_index: 0, item })
      output.push(item)
    }
    if (answer && status === 'completed') output.push(...options.called(answer, id))
    const usage = usageOf(answer?.usage ?? NO_USAGE)
    const status_details = { type: status, ...details }
    emit('response.done', {
      response: { id, object: 'realtime.response', status, status_details, output, usage },
    })
    options.ended()
  }

  emit('response.created', {
    response: { id, object: 'realtime.response', status: 'in_progress', output: [] },
  })
  run().catch(fail)
  return {
    id,
    /** Stops the model and the speech at once. */
    cancel(reason: 'turn_detected' | 'client_cancelled'): void {
      if (!isOver) finish('cancelled', { reason }, null)
    },
  }
}

/** As the turn names its failure. */
function codeOf(error: unknown): TurnFailureKind {
  if (error instanceof AllowanceSpent) return 'allowance'
  return error instanceof ModelError ? error.kind : 'internal'
}

function usageOf({ inputTokens, outputTokens, cachedTokens }: Usage) {
  return {
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    input_token_details: { cached_tokens: cachedTokens, text_tokens: inputTokens, audio_tokens: 0 },
    output_token_details: { text_tokens: outputTokens, audio_tokens: 0 },
  }
}
