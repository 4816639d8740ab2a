import type { Storage } from '../storage/storage.ts'
import { createAdaptations } from './adaptations.ts'

/** Wires the owner's standing instructions. */
export function buildAdaptations({
  storage: { append, ledger, views },
  directory,
}: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'views'>
  readonly directory: string
}) {
  return createAdaptations({ append, ledger, views, dataDir: directory })
}
