import * as z from 'zod'
import { memoryKinds } from '../../../ledger/events/memory.ts'

export type MemoryKind = (typeof memoryKinds)[number]

export const relations = ['same', 'refine', 'conflict', 'independent'] as const
export type Relation = (typeof relations)[number]

/**
 * One thing to remember, as the extractor states it. Strict and with all keys required, as the schema for
 * structured model output. The gates check every claim.
 */
const candidateSchema = z.strictObject({
  kind: z.enum(memoryKinds),
  subject: z.string().describe('"owner", or the person or thing that it is about, as the quote names it'),
  slot: z
    .string()
    .describe('What of the subject it tells, in a word or two: residence, phone number, allergy'),
  value: z.string().describe('What it tells, in the words of the quote'),
  text: z.string().describe('The whole statement, in the language of the quote'),
  quote: z.string().describe('The words of the owner that say it, copied to the letter, without a gap'),
  singleValued: z.boolean().describe('Whether the slot holds one value at a time'),
  eventTime: z
    .string()
    .nullable()
    .describe('When it happens or happened, ISO 8601; null where the quote tells no time'),
  validUntil: z.string().nullable().describe('When it ceases to hold, ISO 8601; null where no end is told'),
  relations: z
    .array(z.strictObject({ memoryId: z.string(), relation: z.enum(relations) }))
    .describe('How it stands to each of the memories that were given'),
})

export type Candidate = z.output<typeof candidateSchema>

export const extractionSchema = z.strictObject({ candidates: z.array(candidateSchema) })
