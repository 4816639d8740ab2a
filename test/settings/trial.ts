import type { AnySettingValue, SettingKey } from '../../src/settings/registry.ts'
import type { World } from './world.ts'

/**
 * How to observe that a setting takes effect: two values, set one after the other while the service runs, and
 * what is then seen from outside. By default, the value itself is expected.
 */
export type Trial = {
  readonly values: readonly AnySettingValue[] | ((world: World) => readonly AnySettingValue[])
  /** Other settings that the observation needs. */
  readonly given?: Partial<Record<SettingKey, AnySettingValue>>
  readonly see: (world: World, value: AnySettingValue) => Promise<unknown>
  readonly expected?: (value: AnySettingValue) => unknown
}

export type Trials = Partial<Record<SettingKey, Trial>>
