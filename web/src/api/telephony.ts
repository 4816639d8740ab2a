import type { Http } from './http.ts'
import { arrayField, asObject, optionalString, stringField } from './json.ts'

/** A webhook address to change at the provider. `from` is null if unset. */
export type PointingChange = { readonly name: string; readonly from: string | null; readonly to: string }

export type Pointing = {
  readonly number: string
  readonly publicUrl: string
  readonly changes: readonly PointingChange[]
}

function parsePointing(value: unknown): Pointing {
  const pointing = asObject(value, 'pointing')
  return {
    number: stringField(pointing, 'number'),
    publicUrl: stringField(pointing, 'publicUrl'),
    changes: arrayField(pointing, 'changes', (item) => {
      const change = asObject(item, 'change')
      return {
        name: stringField(change, 'name'),
        from: optionalString(change, 'from'),
        to: stringField(change, 'to'),
      }
    }),
  }
}

/** The changes needed to point the phone number at this service. */
export async function planPointing(http: Http): Promise<Pointing> {
  return parsePointing(await http('GET', '/api/telephony/number'))
}

/** Points the phone number at this service and returns the changes made. */
export async function pointNumber(http: Http): Promise<Pointing> {
  return parsePointing(await http('POST', '/api/telephony/number/point'))
}
