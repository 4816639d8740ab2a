import { onTestFinished } from 'vitest'
import { type ModelDouble, startModelDouble } from '../doubles/model/model-double.ts'
import { DOUBLE_PRICES } from '../support/prices.ts'
import { startWholeService, type WholeService, type WholeServiceOptions } from '../support/service.ts'

/** Starts the service with a model double that the test scripts. */
export async function startWithModel(
  options: WholeServiceOptions & { readonly modelHost?: string; readonly models?: readonly string[] } = {},
): Promise<{ readonly service: WholeService; readonly model: ModelDouble }> {
  const model = await startModelDouble({
    validate: false,
    ...(options.models ? { models: options.models } : {}),
  })
  onTestFinished(() => model.close())
  const service = await startWholeService({
    ...options,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: model.url.replace('127.0.0.1', options.modelHost ?? '127.0.0.1'),
      CHAT_MODEL: 'test-model',
      PRICES: DOUBLE_PRICES,
      ...options.environment,
    },
  })
  return { service, model }
}

/** Creates a history of exchanges, numbered from 1. */
export async function tellHistory(service: WholeService, exchanges: number): Promise<void> {
  for (let number = 1; number <= exchanges; number += 1) {
    const answer = await service.client.post('/api/chat', { content: `Question number ${number}.` })
    if (answer.status !== 200) throw new Error(`cannot create the history: ${answer.text}`)
  }
}
