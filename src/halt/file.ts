import { join } from 'node:path'

/** While this file exists, the delegate is halted. The shell writes it, because the service holds the ledger's lock. */
export const haltFile = (directory: string): string => join(directory, 'halt')
