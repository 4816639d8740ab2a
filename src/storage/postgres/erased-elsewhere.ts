import type { ErasedElsewhere } from '../messages.ts'
import type { Writer } from '../writer.ts'
import type { Remote } from './remote.ts'

/** Reports the last erasure whose words no file of this node holds any more. */
export function reportErased(
  remote: Pick<Remote, 'report'>,
  node: string,
  { ledger, isSettled }: Pick<Writer, 'ledger' | 'isSettled'>,
  limitMs: number,
): Promise<void> {
  return remote.report(node, ledger.head().seq, isSettled() ? ledger.lastErasure() : 0, limitMs)
}

/** Asks where the words of all erasures so far may still be. Rejects if PostgreSQL does not answer. */
export async function erasedElsewhere(
  remote: Pick<Remote, 'ledger' | 'nodes'>,
  node: string,
  ledger: Pick<Writer['ledger'], 'lastErasure'>,
): Promise<ErasedElsewhere> {
  const erasure = ledger.lastErasure()
  const [found, nodes] = [await remote.ledger(), await remote.nodes()]
  return {
    erased: found !== undefined && found.headSeq >= erasure,
    nodes: nodes.flatMap((each) => (each.node !== node && each.erasedThrough < erasure ? [each.node] : [])),
  }
}
