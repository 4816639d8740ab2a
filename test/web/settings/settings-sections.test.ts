import { expect, test } from 'vitest'
import { settingGroups } from '../../../src/settings/setting.ts'
import { settingsSections } from '../../../web/src/settings/settings-sections.ts'

test('shows every group of settings on the page', () => {
  expect(settingsSections.map(({ id }) => id).sort()).toEqual([...settingGroups].sort())
})
