import { type Candidate, extractionSchema } from '../../../src/memory/learn/candidate.ts'
import type { FactKind } from './month.ts'

/** A candidate as the extraction of the design states it. */
export type Reading = {
  readonly kind: FactKind
  readonly subject: string
  readonly slot: string
  readonly value: string
  readonly text: string
  readonly quote: string
  readonly modality: 'asserted' | 'planned' | 'hypothetical' | 'asked' | 'joked' | 'quoted' | 'past'
  readonly speaker: 'owner' | 'other'
  readonly secrecy: 'keep' | 'do_not_keep'
  readonly singleValued: boolean
  readonly eventTime: string | null
  readonly validUntil: string | null
  /** An offered memory that no longer holds. */
  readonly ends: string | null
  readonly relations: readonly {
    readonly memoryId: string
    readonly relation: 'same' | 'refine' | 'conflict' | 'independent'
  }[]
}

const fields: ReadonlySet<string> = new Set(Object.keys(extractionSchema.shape.candidates.element.shape))

/**
 * The candidate that the current schema allows. Where it has no field to say that something is not stated as a
 * fact, or not to be kept, a competent model leaves it out.
 */
export function toCandidates(reading: Reading): Partial<Candidate>[] {
  const { modality, speaker, secrecy, value, ends } = reading
  const isStated = modality === 'asserted' || modality === 'planned'
  if (!fields.has('modality') && !isStated) return []
  if (!fields.has('speaker') && speaker === 'other') return []
  if (!fields.has('secrecy') && secrecy === 'do_not_keep') return []
  if (!fields.has('ends') && ends !== null && value === '') return []
  return [Object.fromEntries(Object.entries(reading).filter(([name]) => fields.has(name)))]
}
