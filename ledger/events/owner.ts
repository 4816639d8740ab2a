import * as z from 'zod'
import { countSchema, defineEvent, idSchema, seqSchema, timeSchema, wordSchema } from '../define-event.ts'

/** What the owner can sign in with besides the password. */
const factorSchema = z.enum(['totp', 'recovery_codes', 'passkey'])

/** The audit trail. Never put a setting's value, a password or a secret here. */
export const ownerEvents = {
  'adaptation.saved': defineEvent({
    facts: {
      adaptationId: idSchema,
      enabled: z.boolean(),
      channels: z.array(z.enum(['chat', 'voice', 'sms'])),
      source: z.enum(['owner', 'file']),
    },
    body: { title: z.string(), content: z.string() },
  }),
  /** It no longer applies: the owner removed it, or its file is gone. */
  'adaptation.removed': defineEvent({ facts: { adaptationId: idSchema, source: z.enum(['owner', 'file']) } }),
  'adaptations.reloaded': defineEvent({ facts: { loaded: countSchema, skipped: countSchema } }),
  'settings.changed': defineEvent({ facts: { keys: z.array(z.string().max(64)) } }),

  'owner.installed': defineEvent({ facts: { timezone: z.string().max(64) } }),
  'owner.signed-in': defineEvent({
    /** `newDevice` is absent for a browser that has signed in before, and in earlier builds. */
    facts: { sessionId: idSchema, newDevice: z.boolean().optional() },
  }),
  'owner.signed-out': defineEvent({ facts: { sessionId: idSchema } }),
  'owner.session.revoked': defineEvent({
    facts: { sessionId: idSchema, by: z.enum(['owner', 'password_change', 'shell', 'guessing']) },
  }),
  'owner.password.changed': defineEvent({ facts: { by: z.enum(['owner', 'shell']) } }),
  'owner.factor.added': defineEvent({ facts: { kind: factorSchema } }),
  'owner.factor.removed': defineEvent({ facts: { kind: factorSchema, by: z.enum(['owner', 'shell']) } }),
  'owner.recovery-code.used': defineEvent({ facts: { left: countSchema } }),
  /** Refused requests of strangers, counted: at most one fact per minute and kind. */
  'intrusion.counted': defineEvent({
    facts: { kind: wordSchema, count: countSchema, from: timeSchema, to: timeSchema },
  }),

  /** The bodies of `seqs` are erased for good. */
  erased: defineEvent({
    facts: {
      seqs: z.array(seqSchema).min(1).max(500),
      reason: z.enum(['owner', 'memory_forgotten', 'note_deleted']),
    },
  }),
  'ledger.imported': defineEvent({
    facts: { source: z.enum(['import', 'restore']), headSeq: z.int().min(0), headHash: z.string().max(64) },
  }),
  /** The operator accepted the loss of events. `fromSeq` is null if the first lost one is unknown. */
  'ledger.loss.accepted': defineEvent({
    facts: {
      fromSeq: seqSchema.nullable(),
      toSeq: seqSchema,
      knownHash: z.string().max(64),
      knownLedgerId: idSchema,
    },
  }),
  /**
   * What could be read of a damaged ledger was written to a new directory. `gaps` are missing; `hashBefore` is the hash
   * of the event before the gap, so that the chain vouches for it in spite of the gap.
   */
  'ledger.salvaged': defineEvent({
    facts: {
      gaps: z
        .array(z.strictObject({ firstSeq: seqSchema, lastSeq: seqSchema, hashBefore: z.string().length(64) }))
        .max(500),
      /** Events that came from a backup, an export or PostgreSQL. */
      filled: countSchema,
      sources: z.array(z.enum(['directory', 'export', 'postgres'])).max(20),
    },
  }),
  /** A verification found damage. `seq` is null if the first damaged event is unknown. */
  'ledger.damage.found': defineEvent({ facts: { seq: seqSchema.nullable() } }),
  /** Stands in for an event that a damaged ledger lost. A `ledger.salvaged` fact acknowledges it. */
  'ledger.event.lost': defineEvent({ internal: true, facts: {} }),
  'outbound.released': defineEvent({ facts: {} }),
}
