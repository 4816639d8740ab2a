import { catalogue, type EventType } from './events/catalogue.ts'

/** A stored event's two parts as JSON, not yet validated. */
export type Parts = { facts: unknown; body: unknown }

/** Lifts parts to the next version. Pure; must accept an erased body (null). */
export type Upcaster = (parts: Parts) => Parts

/**
 * By type, then by the version to lift from. Never remove a shipped version: `test/ledger/golden/` holds an
 * event of every version ever written, and each must parse.
 */
const upcasters: { readonly [T in EventType]?: { readonly [fromVersion: number]: Upcaster } } = {
  // Version 1 had no body.
  'timer.fired': { 1: (parts) => parts },
  'timer.missed': { 1: (parts) => parts },
  // Version 1 covered texts only.
  'proposal.made': { 1: (parts) => parts },
}

/** Lifts stored parts to the catalogue's version. Throws if an upcaster is missing. */
export function upcast(type: EventType, version: number, parts: Parts): Parts {
  return lift(parts, version, catalogue[type].version, upcasters[type] ?? {})
}

/** Applies the steps from `version` to `current`. Throws if one is missing. */
export function lift(
  parts: Parts,
  version: number,
  current: number,
  steps: { readonly [fromVersion: number]: Upcaster },
): Parts {
  let lifted = parts
  for (let from = version; from < current; from += 1) {
    const step = steps[from]
    if (!step) throw new Error(`no upcaster from version ${from}`)
    lifted = step(lifted)
  }
  return lifted
}
