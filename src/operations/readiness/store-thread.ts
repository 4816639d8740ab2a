import { serveCalls } from '../../storage/serve-calls.ts'
import { storeFunctions } from './store-functions.ts'

const functions: Readonly<Record<string, () => (args: never) => unknown>> = storeFunctions

serveCalls(() => ({
  functionOf(name) {
    const make = functions[name]
    if (!make) throw new Error(`there is no function ${name}`)
    return make()
  },
  close: () => undefined,
}))
