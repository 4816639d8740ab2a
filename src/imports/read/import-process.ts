import { once } from 'node:events'
import type { ReadConversation, ReadMessage } from './conversations.ts'
import { conversationsIn, UnreadableExport } from './export-file.ts'

export type ImportMessage =
  | { readonly kind: 'batch'; readonly conversations: readonly ReadConversation[]; readonly skipped: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'failed'; readonly reason: UnreadableExport['reason'] }

/** Enough to be quick, little enough to be handled without holding up a turn. */
const BATCH_CHARS = 100_000
const BATCH_ENTRIES = 50
/** Estimated cost of a message, apart from its text. */
const MESSAGE_CHARS = 100

/**
 * Reads one file and sends its conversations in batches, each after the previous one was taken. A long conversation is
 * sent in consecutive pieces.
 */
async function run(file: string, nowMs: number): Promise<void> {
  let conversations: ReadConversation[] = []
  let skipped = 0
  let chars = 0
  async function sendBatch(): Promise<void> {
    send({ kind: 'batch', conversations, skipped })
    conversations = []
    skipped = 0
    chars = 0
    await once(process, 'message')
  }
  try {
    for await (const conversation of conversationsIn(file, nowMs)) {
      if (conversation === null) skipped += 1
      else {
        // Only a conversation larger than a batch is split.
        const total = conversation.messages.reduce((sum, { text }) => sum + text.length + MESSAGE_CHARS, 0)
        if (conversations.length > 0 && chars + total >= BATCH_CHARS) await sendBatch()
        let messages: ReadMessage[] = []
        conversations.push({ ...conversation, messages })
        for (const message of conversation.messages) {
          messages.push(message)
          chars += message.text.length + MESSAGE_CHARS
          if (chars < BATCH_CHARS) continue
          await sendBatch()
          messages = []
          conversations.push({ ...conversation, messages })
        }
      }
      if (conversations.length + skipped >= BATCH_ENTRIES) await sendBatch()
    }
    await sendBatch()
    send({ kind: 'end' })
  } catch (error) {
    if (!(error instanceof UnreadableExport)) throw error
    send({ kind: 'failed', reason: error.reason })
  }
}

function send(message: ImportMessage): void {
  process.send?.(message)
}

// It ends with the service, which kills it or closes the channel. A signal to both must not look like a crash.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
process.once('disconnect', () => process.exit())
const [, , path, nowMs] = process.argv
if (path !== undefined) await run(path, Number(nowMs))
