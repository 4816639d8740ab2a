import { hash } from 'node:crypto'
import * as z from 'zod'
import type { Documents } from './factor-store.ts'

const DOCUMENT = 'devices'
/** More than one person uses; the one that was used the longest ago is forgotten. */
const MAX_DEVICES = 50

const documentSchema = z.array(z.string())

export type Devices = ReturnType<typeof createDevices>

/**
 * Browsers that have signed in, by a random token that each keeps and by its kind, so that a token in another browser
 * is not the same device. Addresses do not count: they change, and neighbours share them.
 */
export function createDevices({ document, writeDocument }: Documents) {
  /** Digests, least recently used first. */
  const read = () => documentSchema.parse(JSON.parse(document(DOCUMENT) ?? '[]'))

  return {
    knows: (token: string, userAgent: string): boolean => read().includes(digestOf(token, userAgent)),
    /** Remembers a device. True if it is new. */
    remember(token: string, userAgent: string): boolean {
      const digest = digestOf(token, userAgent)
      const known = read()
      const others = known.filter((each) => each !== digest)
      writeDocument(DOCUMENT, JSON.stringify([...others, digest].slice(-MAX_DEVICES)))
      return others.length === known.length
    },
  }
}

const digestOf = (token: string, userAgent: string) => hash('sha256', `${token}\n${kindOf(userAgent)}`)

/** A user agent without versions, which change with every update. */
function kindOf(userAgent: string): string {
  return userAgent.replaceAll(/[\d._]+/g, '')
}
