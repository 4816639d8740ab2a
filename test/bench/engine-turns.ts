import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { copyToPostgres } from '../../scripts/lib/engine.ts'
import type { PostgresOptions } from '../../src/storage/postgres/options.ts'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { startServiceProcess } from './service-process.ts'
import { quantile, round, timedAsync } from './statistics.ts'

const WARM_TURNS = 50
const BLOCK_TURNS = 20

/** Chat turns of two services against one double, in turns: on SQLite alone, and committed by PostgreSQL. */
export async function benchEngineTurns(directory: string, postgres: PostgresOptions, turns = 300) {
  const double = await startModelDouble({ validate: false, record: false })
  double.answerWith(() => ({ text: 'Yes.', usage: { inputTokens: 100, outputTokens: 2 } }))
  const own = join(directory, 'turns')
  mkdirSync(own)
  await copyToPostgres(own, postgres)
  const model = { OPENAI_API_KEY: 'sk-bench', OPENAI_BASE_URL: double.url, CHAT_MODEL: 'test-model' }
  const shared = {
    DATA_DIR: own,
    LEDGER_POSTGRES_URL: postgres.url,
    LEDGER_POSTGRES_MODE: 'commit',
    LEDGER_NODE: postgres.node,
  }
  const ways = [
    { way: 'sqlite', client: await startServiceProcess(model), samples: [] as number[] },
    {
      way: 'synchronous',
      client: await startServiceProcess({ ...model, ...shared }),
      samples: [] as number[],
    },
  ]
  for (let turn = 0; turn < turns + WARM_TURNS; turn += BLOCK_TURNS)
    for (const { client, samples } of ways)
      for (let index = 0; index < BLOCK_TURNS; index += 1) {
        const content = `Message ${turn + index}`
        const tookMs = await timedAsync(() => client.post('/api/chat', { content }))
        if (turn >= WARM_TURNS) samples.push(tookMs)
      }
  for (const { client } of ways) await client.close()
  await double.close()
  const [alone = 0, committed = 0] = ways.map(({ samples }) => quantile(samples, 0.5))
  return {
    ...Object.fromEntries(ways.map(({ way, samples }) => [way, percentiles(samples)])),
    ratio: Number((committed / alone).toFixed(2)),
  }
}

const percentiles = (samples: number[]) => ({
  p50Ms: round(quantile(samples, 0.5)),
  p99Ms: round(quantile(samples, 0.99)),
})
