import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** A file of conversations with questions and, for each, the turns that contain its answer. */
const dataSchema = z.object({
  conversations: z.array(
    z.object({
      id: z.string(),
      speakers: z.tuple([z.string(), z.string()]),
      turns: z.array(
        z.object({
          id: z.string(),
          session: z.union([z.number(), z.string()]),
          at: z.iso.datetime(),
          speaker: z.string(),
          text: z.string(),
        }),
      ),
      questions: z.array(
        z.object({ question: z.string(), category: z.string(), evidence: z.array(z.string()) }),
      ),
    }),
  ),
})

export type RecallData = z.output<typeof dataSchema>
export type Conversation = RecallData['conversations'][number]
export type Turn = Conversation['turns'][number]

/** Throws with the reason if the file does not match the schema. */
export function readData(file: string): RecallData {
  return dataSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
}
