import { catalogue, type EventType } from './events/catalogue.ts'

/** A stored event's two parts as parsed JSON, before its schema has seen them. */
export type Parts = { facts: unknown; body: unknown }

/** Lifts the parts of one version to the next. Pure; must accept an erased body (null). */
export type Upcaster = (parts: Parts) => Parts

/**
 * By type, then by the version that it lifts from. A shipped version is never dropped from here:
 * `test/ledger/golden/` holds an event of every version ever written, and each must parse.
 */
const upcasters: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcaster } } = {
  // Version 1 carried no words.
  'timer.fired': { 1: (parts) => parts },
  'timer.missed': { 1: (parts) => parts },
  // Version 1 knew texts alone.
  'proposal.made': { 1: (parts) => parts },
}

/** Lifts stored parts to the version that the catalogue describes. Throws where a step is missing. */
export function upcast(type: EventType, version: number, parts: Parts): Parts {
  return lift(parts, version, catalogue[type].version, upcasters[type] ?? {})
}

/** Takes one step after the other. Throws where one is missing. */
export function lift(
  parts: Parts,
  version: number,
  current: number,
  steps: { readonly [fromVersion: number]: Upcaster },
): Parts {
  let lifted = parts
  for (let from = version; from < current; from += 1) {
    const step = steps[from]
    if (!step) throw new Error(`no upcaster lifts it from version ${from}`)
    lifted = step(lifted)
  }
  return lifted
}
