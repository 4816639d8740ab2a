import { expect, test } from 'vitest'
import { matching } from '../../../web/src/app/commands.ts'

const commands = [
  { label: 'Memories' },
  { label: 'Memory Insights' },
  { label: 'Set a reminder…', words: 'timer alarm' },
]
const found = (query: string) => matching(commands, query).map(({ label }) => label)

test('finds the commands that contain every typed word, in any order and case', () => {
  expect(found('')).toHaveLength(3)
  expect(found('memor')).toEqual(['Memories', 'Memory Insights'])
  expect(found(' insights  MEM ')).toEqual(['Memory Insights'])
  expect(found('alarm')).toEqual(['Set a reminder…'])
  expect(found('memories alarm')).toEqual([])
})
