import type { Trials } from './trial.ts'
import type { World } from './world.ts'

const spending = async ({ ok, client }: World) => ok(client.get('/api/spending'))
const limitOf = async (world: World, window: string) =>
  (await spending(world)).windows.find((each: { window: string }) => each.window === window).limitMicros
const prices = (input: number) => JSON.stringify({ models: { 'test-model': { input, output: 0 } } })

export const moneyTrials = {
  ALLOWANCE_DAY: {
    values: [7, 2.5],
    see: (world) => limitOf(world, 'day'),
    expected: (dollars) => Number(dollars) * 1_000_000,
  },
  ALLOWANCE_MONTH: {
    values: [70, 25],
    see: (world) => limitOf(world, 'month'),
    expected: (dollars) => Number(dollars) * 1_000_000,
  },
  PRICES: {
    values: [prices(1), prices(2)],
    async see(world) {
      world.model.reply({ text: 'Yes.', usage: { inputTokens: 500, outputTokens: 0 } })
      const { turnId } = await world.say('What time is it?')
      const isSettled = (reserved: unknown) => reserved === 0
      await world.until('the settlement', async () => (await spending(world)).reservedMicros, isSettled)
      return (await world.ok(world.client.get(`/api/turns/${turnId}`))).costMicros
    },
    expected: (value) => JSON.parse(String(value)).models['test-model'].input * 500,
  },
} satisfies Trials
