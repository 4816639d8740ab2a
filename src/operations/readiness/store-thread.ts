import { serveCalls } from '../../storage/serve-calls.ts'
import { checkStores } from './stores.ts'

export type StoreFunctions = { readonly checkStores: () => typeof checkStores }

serveCalls({ checkStores })
