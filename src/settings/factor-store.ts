import * as z from 'zod'
import type { NewEvent } from '../../ledger/event.ts'

/** The name of the document, and of the secret in it. */
export const FACTORS = 'factors'

const passkeySchema = z.object({
  /** The credential's id, as authenticators know it. */
  id: z.string(),
  name: z.string(),
  /** The domain that it belongs to. */
  rpId: z.string(),
  publicKey: z.string(),
  /** How often it was used, according to authenticators that count. */
  counter: z.int(),
  addedAtMs: z.int(),
  lastUsedAtMs: z.int().nullable(),
})

const documentSchema = z.object({
  totp: z
    .object({
      /** The secret, sealed by the secret box. */
      sealed: z.string(),
      /** The step of the last accepted code. No code of it or of an earlier step counts again. */
      lastStep: z.int(),
      addedAtMs: z.int(),
    })
    .nullable(),
  /** Digests of unused recovery codes. */
  recoveryHashes: z.array(z.string()),
  passkeys: z.array(passkeySchema).default([]),
  userHandle: z.string().nullable().default(null),
})

type Document = z.output<typeof documentSchema>

const NONE: Document = { totp: null, recoveryHashes: [], passkeys: [], userHandle: null }

export type FactorStore = ReturnType<typeof createFactorStore>

export type Documents = {
  readonly document: (name: string) => string | null
  readonly writeDocument: (name: string, content: string) => void
}

/** The owner's factors besides the password, in one document. Writes are durable when they return. */
export function createFactorStore({ document, writeDocument }: Documents) {
  function read(): Document {
    const content = document(FACTORS)
    return content === null ? NONE : documentSchema.parse(JSON.parse(content))
  }
  return {
    read,
    /** The kinds of factors that the owner has besides the password. */
    kinds(): readonly ('totp' | 'passkey')[] {
      const { totp, passkeys } = read()
      return [
        ...(totp === null ? [] : ['totp' as const]),
        ...(passkeys.length > 0 ? ['passkey' as const] : []),
      ]
    },
    write: (changes: Partial<Document>) => writeDocument(FACTORS, JSON.stringify({ ...read(), ...changes })),
  }
}

export type FactorKind = 'totp' | 'recovery_codes' | 'passkey'

export const byOwner = { actor: 'owner', channel: 'system' } as const

export function factorAdded(kind: FactorKind): NewEvent {
  return { type: 'owner.factor.added', ...byOwner, facts: { kind } }
}

export function factorRemoved(kind: FactorKind, by: 'owner' | 'shell'): NewEvent {
  return { type: 'owner.factor.removed', ...byOwner, facts: { kind, by } }
}
