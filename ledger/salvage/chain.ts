import { GENESIS_HASH } from '../codec.ts'
import type { Head, SeqRange } from '../reader.ts'
import { type Candidate, type Found, follows } from './found.ts'

/** Copies that the chain proves, by seq, and the hashes of lost events that the next event proves. */
export type Chain = ReturnType<typeof createChain>

/** A gap with the head before it, and the hash of its last event if that is known. */
export type Gap = SeqRange & { readonly before: Head; readonly lastHash: string | null }

const LEDGER = 0

/**
 * Chooses the copies that the chain of hashes proves. The first event after a gap cannot be proven, because its hash
 * covers that of a missing one. Its own hash is proven by the event after it, so it counts as lost, and the chain
 * continues from its hash.
 */
export function createChain(found: Found) {
  const refs = new Map<number, number>()
  const lostHashes = new Map<number, string>()
  let last = 0

  const hashOf = (seq: number): string | null => {
    if (seq === 0) return GENESIS_HASH
    const known = lostHashes.get(seq)
    const ref = refs.get(seq)
    return known ?? (ref === undefined ? null : found.row(ref).hash)
  }

  function keep(seq: number, ref: number): void {
    refs.set(seq, ref)
    lostHashes.delete(seq)
    last = Math.max(last, seq)
  }

  /** The copy that follows from `head`, rather one with a successor. */
  function successor(head: Head, origin: number): Candidate | undefined {
    const fitting = found.at(head.seq + 1, origin).filter((candidate) => follows(head, candidate))
    if (fitting.length < 2) return fitting[0]
    return (
      fitting.find(({ hash }) => {
        const next = { seq: head.seq + 1, hash }
        return found.at(next.seq + 1, origin).some((candidate) => follows(next, candidate))
      }) ?? fitting[0]
    )
  }

  /** The first hash after `head` that another event follows from. */
  function hingeAfter(head: Head): Head | null {
    for (let seq = found.next(head.seq, LEDGER); seq !== null; seq = found.next(seq, LEDGER)) {
      for (const { hash } of found.at(seq, LEDGER)) {
        const hinge = { seq, hash }
        if (found.at(seq + 1, LEDGER).some((candidate) => follows(hinge, candidate))) return hinge
      }
    }
    return null
  }

  return {
    /** Follows the chain through the ledger's own copies. */
    followLedger(): void {
      let head: Head | null = { seq: 0, hash: GENESIS_HASH }
      while (head) {
        const candidate = successor(head, LEDGER)
        if (candidate) {
          head = { seq: head.seq + 1, hash: candidate.hash }
          keep(head.seq, candidate.ref)
        } else {
          head = hingeAfter(head)
          if (head) lostHashes.set(head.seq, head.hash)
        }
      }
    },
    /** The hash of an event that a witness knows. It may be the last one, and lost. */
    expect({ seq, hash }: Head): void {
      if (seq <= last) return
      lostHashes.set(seq, hash)
      last = seq
    },
    /** Fills gaps from another origin, as far as the hashes on both sides prove its copies. Returns how many it filled. */
    fill(origin: number): number {
      const before = refs.size
      for (const gap of [...this.gaps(), this.end()]) {
        if (!fillForward(gap, origin)) fillBackward(gap, origin)
      }
      return refs.size - before
    },
    gaps(): Gap[] {
      const gaps: Gap[] = []
      for (let seq = 1; seq <= last; seq += 1) {
        if (refs.has(seq)) continue
        const firstSeq = seq
        while (seq < last && !refs.has(seq + 1)) seq += 1
        gaps.push(gapOf(firstSeq, seq))
      }
      return gaps
    },
    /** What may come after the last known event. */
    end: (): Gap => gapOf(last + 1, Number.POSITIVE_INFINITY),
    last: () => last,
    hashOf,
    ref: (seq: number) => refs.get(seq),
    /** Removes an event. Its hash is still known. */
    lose(seq: number): void {
      const hash = hashOf(seq)
      refs.delete(seq)
      if (hash !== null) lostHashes.set(seq, hash)
    },
  }

  function gapOf(firstSeq: number, lastSeq: number): Gap {
    const before = { seq: firstSeq - 1, hash: hashOf(firstSeq - 1) ?? '' }
    return { firstSeq, lastSeq, before, lastHash: lostHashes.get(lastSeq) ?? null }
  }

  /** False if the copies belong to another history, or end too early. */
  function fillForward({ before, lastSeq, lastHash }: Gap, origin: number): boolean {
    const filled: number[] = []
    let head = before
    while (head.seq < lastSeq) {
      const candidate = successor(head, origin)
      if (!candidate) break
      filled.push(candidate.ref)
      head = { seq: head.seq + 1, hash: candidate.hash }
    }
    const isThrough = head.seq === lastSeq
    if (isThrough && lastHash !== null && head.hash !== lastHash) return false
    for (const [index, ref] of filled.entries()) keep(before.seq + 1 + index, ref)
    return isThrough
  }

  /** From the known hash of the last event: each copy proves the hash of the one before it. */
  function fillBackward({ firstSeq, lastSeq, lastHash }: Gap, origin: number): void {
    let wanted = lastHash
    for (let seq = lastSeq; wanted !== null && seq > firstSeq && !refs.has(seq - 1); seq -= 1) {
      const hash: string = wanted
      const candidate = found.at(seq, origin).find((each) => each.hash === hash)
      const before = found
        .at(seq - 1, origin)
        .find((each) => candidate && follows({ seq: seq - 1, hash: each.hash }, candidate))
      if (!candidate || !before) return
      keep(seq, candidate.ref)
      lostHashes.set(seq - 1, before.hash)
      wanted = before.hash
    }
  }
}
