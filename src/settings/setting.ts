import type * as z from 'zod'

export const settingGroups = [
  'model',
  'money',
  'telephony',
  'rights',
  'owner',
  'conversation',
  'notifications',
  'delivery',
  'backups',
  'service',
] as const

type SettingSchema = z.ZodType<string | number>

export type SettingDefinition = {
  readonly schema: SettingSchema
  /** Applies if neither the store nor the environment has a value; null means unset. */
  readonly default: string | number | null
  /** Encrypted at rest, and never returned by the API. */
  readonly secret: boolean
  /**
   * Whoever changes it could receive secrets, calls or texts, spend money, run programs or remove backups, so changing it needs a
   * recent proof that the owner is there. True for every secret.
   */
  readonly sensitive: boolean
  readonly group: (typeof settingGroups)[number]
  /** The label in forms. */
  readonly title: string
  readonly description: string
  /** The unit of a number. */
  readonly unit: string | null
  /** The allowed values, if there are only a few. */
  readonly choices: readonly string[] | null
  /** Its variable in the environment, if that is not named like the setting. */
  readonly variable: string | null
}

type Optional = 'unit' | 'choices' | 'secret' | 'sensitive' | 'variable'
type Options<D> = Omit<SettingDefinition, Optional | 'schema' | 'default'> &
  Partial<Pick<SettingDefinition, Optional>> & { readonly default: D }

/** Fills in what most settings share. */
export function setting<const S extends SettingSchema, const D extends z.output<S> | null>(
  schema: S,
  options: Options<D>,
) {
  return {
    schema,
    secret: false,
    sensitive: options.secret ?? false,
    unit: null,
    choices: null,
    variable: null,
    ...options,
  }
}
