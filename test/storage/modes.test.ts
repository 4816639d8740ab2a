import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tightenModes } from '../../src/storage/modes.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Makes everything readable by others, as a manual restore does. */
function open(directory: string): void {
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o644)
  chmodSync(directory, 0o755)
}

test('restricts the data directory to its owner at the start and warns once', async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  await first.client.put('/api/config', {
    entries: { OPENAI_BASE_URL: 'http://127.0.0.1:9', OPENAI_API_KEY: 'key' },
  })
  await first.stop()
  open(directory)
  mkdirSync(join(directory, 'adaptations'), { mode: 0o755 })
  writeFileSync(join(directory, 'adaptations', 'short.md'), 'Be short.', { mode: 0o644 })
  const outside = join(testDirectory(), 'outside')
  writeFileSync(outside, '', { mode: 0o644 })
  symlinkSync(outside, join(directory, 'link'))

  const service = await startWholeService({ directory })
  expect(modeOf(directory)).toBe('700')
  const names = readdirSync(directory).filter((name) => name !== 'link')
  expect(names).toEqual(
    expect.arrayContaining(['ledger.sqlite', 'settings.sqlite', 'views.sqlite', 'secret.key']),
  )
  for (const name of names)
    expect([name, modeOf(join(directory, name))]).toEqual([name, name === 'adaptations' ? '700' : '600'])
  expect(modeOf(outside)).toBe('644')
  expect((await service.client.get('/api/adaptations')).text).toContain('Be short.')
  const warnings = () => service.written.filter((line) => line.includes('readable by other accounts'))
  expect(warnings()).toHaveLength(1)
  expect(JSON.parse(warnings()[0] ?? '')).toMatchObject({ level: 'warn', tightened: expect.any(Number) })
  await service.stop()

  rmSync(join(directory, 'link'))
  const again = await startWholeService({ directory })
  expect(again.written.filter((line) => line.includes('readable by other accounts'))).toEqual([])
})

test('restricts an empty directory without a warning', async () => {
  const directory = testDirectory()
  chmodSync(directory, 0o755)
  const { written } = await startWholeService({ directory, installed: false })
  expect(modeOf(directory)).toBe('700')
  expect(written.filter((line) => line.includes('readable by other accounts'))).toEqual([])
})

test('names the files whose mode it cannot change, without failing', () => {
  const directory = testDirectory()
  for (const name of ['ledger.sqlite', 'secret.key'])
    writeFileSync(join(directory, name), '', { mode: 0o644 })
  const refuse = () => {
    throw Object.assign(new Error('not yours'), { code: 'EPERM' })
  }
  expect(tightenModes(directory, refuse)).toEqual({
    tightened: [],
    refused: [join(directory, 'ledger.sqlite'), join(directory, 'secret.key')],
  })
})
