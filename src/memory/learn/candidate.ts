import * as z from 'zod'
import { memoryKinds } from '../../../ledger/events/memory.ts'

export type MemoryKind = (typeof memoryKinds)[number]

/** The kind of a memory in the views. */
export const kindNamed = (name: string): MemoryKind => memoryKinds.find((kind) => kind === name) ?? 'episode'

export const relations = ['same', 'refine', 'conflict', 'independent'] as const
export type Relation = (typeof relations)[number]

export const modalities = ['asserted', 'planned', 'past', 'hypothetical', 'asked', 'joked', 'quoted'] as const

/**
 * One thing to remember, as the extractor reads it. Strict and with all keys required, as the schema for
 * structured model output. Mood and grammar are the model's judgement; code checks the evidence.
 */
const candidateSchema = z.strictObject({
  kind: z.enum(memoryKinds),
  subject: z.string().describe('"owner", or the person or thing that it is about, by name'),
  slot: z
    .string()
    .describe('What of the subject it tells, in a word or two: residence, phone number, allergy'),
  value: z.string().describe('What it tells, in the words of the quote'),
  text: z.string().describe('The whole statement, in the language of the quote; empty if it only ends one'),
  quote: z.string().describe('The words of the owner that say it, copied to the letter, without a gap'),
  modality: z.enum(modalities).describe('How the owner means it'),
  speaker: z.enum(['owner', 'other']).describe('"other" if the owner only reports what somebody claims'),
  secrecy: z
    .enum(['keep', 'do_not_keep'])
    .describe('"do_not_keep" if the owner asks not to store or remember what the message says'),
  singleValued: z.boolean().describe('Whether the slot holds one value at a time'),
  eventTime: z
    .string()
    .nullable()
    .describe('When it happens or happened, ISO 8601; null where the quote tells no time'),
  validUntil: z.string().nullable().describe('When it ceases to hold, ISO 8601; null where no end is told'),
  ends: z
    .string()
    .nullable()
    .describe('The id of a given memory that no longer holds, now that this is said'),
  keywords: z
    .array(z.string())
    // A server without structured outputs may leave them out.
    .catch([])
    .describe('Single words, beyond those of the statement, by which the owner may ask for it later'),
  relations: z
    .array(z.strictObject({ memoryId: z.string(), relation: z.enum(relations) }))
    .describe('How it stands to each of the memories that were given'),
})

export type Candidate = z.output<typeof candidateSchema>

export const extractionSchema = z.strictObject({ candidates: z.array(candidateSchema) })

/** A memory offered to the extractor, so that it can relate candidates to it. */
export type Offered = {
  readonly memoryId: string
  readonly seq: number
  readonly text: string
  readonly subject: string
  readonly slot: string
  readonly since: string
}
