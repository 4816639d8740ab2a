import { createBuiltinService } from '../../../src/model/builtin/builtin.ts'
import type { ModelService } from '../../../src/model/port.ts'
import { dialects } from '../../doubles/model/completions.ts'
import type { ModelDouble } from '../../doubles/model/model-double.ts'
import type { Reply } from '../../doubles/model/script.ts'
import { setUp } from '../openai/fixture.ts'

/** A service on a double, through one of the two APIs. */
export type Networked = {
  readonly name: string
  readonly path: '/responses' | '/chat/completions'
  readonly reportsUsage: boolean
  start(options?: Parameters<typeof setUp>[0]): Promise<{ service: ModelService; double: ModelDouble }>
}

const completions = dialects.map(
  (dialect): Networked => ({
    name: `chat completions as of ${dialect}`,
    path: '/chat/completions',
    reportsUsage: dialect !== 'ollama',
    start: (options) =>
      setUp({ ...options, double: { dialect, lacks: ['/responses'] }, settings: { api: 'completions' } }),
  }),
)

export const networked: readonly Networked[] = [
  { name: 'the Responses API', path: '/responses', reportsUsage: true, start: setUp },
  ...completions,
]

/** Every model, with the replies that a double gives. The builtin model makes its own. */
export const all: readonly {
  readonly name: string
  start(...replies: readonly Reply[]): Promise<ModelService>
}[] = [
  { name: 'the builtin model', start: () => Promise.resolve(createBuiltinService()) },
  ...networked.map(({ name, start }) => ({
    name,
    async start(...replies: readonly Reply[]) {
      const { service, double } = await start()
      double.reply(...replies)
      return service
    },
  })),
]
