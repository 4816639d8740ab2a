import { generateKeyPairSync } from 'node:crypto'
import * as z from 'zod'
import { notificationKinds } from '../../ledger/events/notification.ts'
import { SettingsUnusable } from './errors.ts'
import type { Documents } from './factor-store.ts'
import type { SecretBox } from './secrets.ts'
import type { Sessions } from './sessions.ts'

const DOCUMENT = 'push'
/** More than one person uses; the oldest goes. */
const MAX_SUBSCRIPTIONS = 20
const PRIVATE_KEY = 'push-private-key'

const subscriptionSchema = z.object({
  id: z.string(),
  sessionId: z.string(),
  endpoint: z.string(),
  /** The keys of the browser (RFC 8291), as base64url. */
  keys: z.object({ p256dh: z.string(), auth: z.string() }),
  kinds: z.array(z.enum(notificationKinds)),
  createdAt: z.string(),
})
const documentSchema = z.object({
  publicKey: z.string(),
  /** Sealed. */
  privateKey: z.string(),
  subscriptions: z.array(subscriptionSchema),
})

export type PushSubscription = z.output<typeof subscriptionSchema>
export type NewPushSubscription = Omit<PushSubscription, 'id' | 'createdAt'>
export type PushSubscriptions = ReturnType<typeof createPushSubscriptions>

/**
 * Browsers that may be notified by push, and the keys that identify this service to their push services (VAPID,
 * RFC 8292). A subscription ends with its session.
 */
export function createPushSubscriptions(options: {
  readonly documents: Documents
  readonly secrets: Pick<SecretBox, 'seal' | 'open'>
  readonly makeKey: () => void
  readonly sessions: Pick<Sessions, 'list'>
  readonly newId: () => string
  readonly nowMs: () => number
}) {
  const { documents, secrets, sessions } = options

  function read(): z.output<typeof documentSchema> | null {
    const content = documents.document(DOCUMENT)
    if (content === null) return null
    const found = documentSchema.parse(JSON.parse(content))
    const current = new Set(sessions.list().map(({ id }) => id))
    return { ...found, subscriptions: found.subscriptions.filter(({ sessionId }) => current.has(sessionId)) }
  }

  function keys(): { readonly publicKey: string; readonly privateKey: string } | null {
    const found = read()
    try {
      return found && { publicKey: found.publicKey, privateKey: secrets.open(PRIVATE_KEY, found.privateKey) }
    } catch (error) {
      if (!(error instanceof SettingsUnusable)) throw error
      return null
    }
  }

  function write(change: (subscriptions: PushSubscription[]) => PushSubscription[]): void {
    const found = read()
    if (!found) return
    const subscriptions = change(found.subscriptions).slice(-MAX_SUBSCRIPTIONS)
    documents.writeDocument(DOCUMENT, JSON.stringify({ ...found, subscriptions }))
  }

  return {
    /** The keys of this service. Null before they are made, and where secret.key does not open them. */
    keys,
    /** Makes the keys if there are none. Browsers that have subscribed with other keys must do so again. */
    makeKeys(): string {
      const known = keys()
      if (known) return known.publicKey
      options.makeKey()
      const { publicKey, privateKey } = newKeys()
      const made = { publicKey, privateKey: secrets.seal(PRIVATE_KEY, privateKey), subscriptions: [] }
      documents.writeDocument(DOCUMENT, JSON.stringify(made))
      return publicKey
    },
    list: (): readonly PushSubscription[] => read()?.subscriptions ?? [],
    find: (id: string) => read()?.subscriptions.find((each) => each.id === id),
    /** The id for an endpoint: its own if it is known. */
    idFor: (endpoint: string): string =>
      read()?.subscriptions.find((each) => each.endpoint === endpoint)?.id ?? options.newId(),
    save(id: string, subscription: NewPushSubscription): PushSubscription {
      const saved = { ...subscription, id, createdAt: new Date(options.nowMs()).toISOString() }
      write((all) => [...all.filter((each) => each.id !== id), saved])
      return saved
    },
    setKinds(id: string, kinds: PushSubscription['kinds']): void {
      write((all) => all.map((each) => (each.id === id ? { ...each, kinds } : each)))
    },
    remove(id: string): void {
      write((all) => all.filter((each) => each.id !== id))
    },
  }
}

/** Keys on P-256, as base64url: the public one as an uncompressed point, the private one as 32 bytes. */
function newKeys(): { publicKey: string; privateKey: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' })
  const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  return { publicKey: Buffer.concat(point).toString('base64url'), privateKey: d }
}
