import type { AnySettingValue, SettingKey } from '../../src/settings/registry.ts'
import type { World } from './world.ts'

/**
 * How a setting is seen to act: two values one after the other, each put in force while the service runs, and what is
 * then observed from outside. What is expected is the value itself where nothing else is said.
 */
export type Trial = {
  readonly values: readonly AnySettingValue[] | ((world: World) => readonly AnySettingValue[])
  /** Other settings without which there is nothing to be seen. */
  readonly given?: Partial<Record<SettingKey, AnySettingValue>>
  readonly see: (world: World, value: AnySettingValue) => Promise<unknown>
  readonly expected?: (value: AnySettingValue) => unknown
}

export type Trials = Partial<Record<SettingKey, Trial>>
