import { hash } from 'node:crypto'
import * as z from 'zod'
import type { Append } from '../../ledger/event.ts'

const DOCUMENT = 'calendar'
/** Null: switched off. */
const storedSchema = z.object({ tokenHash: z.string(), madeAt: z.string() }).nullable()

/** The private address of the calendar. Whoever knows it can read the reminders, so only its hash is kept. */
export function createFeed(options: {
  readonly documents: {
    document(name: string): string | null
    writeDocument(name: string, content: string): void
  }
  readonly append: Append
  readonly nowMs: () => number
  /** At least 128 random bits, in characters that a path may contain. */
  readonly newToken: () => string
}) {
  const { documents, append, nowMs, newToken } = options

  function stored() {
    const content = documents.document(DOCUMENT)
    return content === null ? null : storedSchema.parse(JSON.parse(content))
  }

  async function store(content: z.output<typeof storedSchema>): Promise<void> {
    await append([
      { type: 'settings.changed', actor: 'owner', channel: 'system', facts: { keys: [DOCUMENT] } },
    ])
    documents.writeDocument(DOCUMENT, JSON.stringify(content))
  }

  return {
    madeAt: (): string | null => stored()?.madeAt ?? null,
    isToken: (token: string): boolean => stored()?.tokenHash === hash('sha256', token),
    /** Makes the address of which only the token is secret. The one before no longer works. */
    async make(): Promise<string> {
      const token = newToken()
      await store({ tokenHash: hash('sha256', token), madeAt: new Date(nowMs()).toISOString() })
      return token
    },
    /** Switches the address off. */
    async drop(): Promise<void> {
      if (stored() !== null) await store(null)
    },
  }
}
