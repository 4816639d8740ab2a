import { readFileSync, writeFileSync } from 'node:fs'

const PAGE_BYTES = 4096

export type Damage = {
  readonly kind: 'zeros' | 'noise' | 'swap'
  readonly page: number
  readonly other: number
}

/** Overwrites or swaps whole pages of a file, as a failing disk does. Numbers are taken modulo the number of pages. */
export function damagePages(file: string, damages: readonly Damage[]): void {
  const bytes = readFileSync(file)
  const pages = Math.floor(bytes.length / PAGE_BYTES)
  const at = (page: number) => bytes.subarray((page % pages) * PAGE_BYTES, ((page % pages) + 1) * PAGE_BYTES)
  for (const { kind, page, other } of damages) {
    const [one, two] = [at(page), at(other)]
    if (kind === 'zeros') one.fill(0)
    else if (kind === 'noise') noise(one, other)
    else {
      const copy = Buffer.from(one)
      two.copy(one)
      copy.copy(two)
    }
  }
  writeFileSync(file, bytes)
}

/** The same bytes for the same seed. */
function noise(bytes: Buffer, seed: number): void {
  let state = seed | 1
  for (let index = 0; index < bytes.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[index] = state >>> 24
  }
}
